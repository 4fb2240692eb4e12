#include "foxhunt/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
