/* Refused: made for a header of another day. */
#include <foxhunt_features.h>

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI + 1, sizeof(foxhunt_features), "other_abi", "1", 0, 0, 0, 0};
  return &all;
}
