#pragma once
// Labels of an order book: where its mid stands k steps ahead.
//
// With m the mid after each step of one unbroken stretch (no session break, no invalid book):
//
//   value    = (m[t+k] - m[t]) / tick
//   class    = flat where |value| <= dead_zone, else down or up by its sign
//   interval = [available_at(t), available_at(t+k)], both ends included
//
// A step is whatever the caller samples the book at (an event, a change of the mid, a second). A
// null mid (an empty side, a book in doubt) gives no label at either end and is counted by none.

#include "foxhunt/train/labels.h"

namespace foxhunt::train {

/// Errors  ConfigError: steps < 1 or a negative dead zone; ShapeError: spans of two lengths.
Labels make_mid_labels(const LabelBars& mids, std::int64_t steps, double dead_zone);

}  // namespace foxhunt::train
