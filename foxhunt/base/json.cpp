#include "foxhunt/base/json.h"

FX_JSON_CODE()
