#include "foxhunt/report/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
