#pragma once
// What is wrong between files that each may be right. Inside of the room only.

#include <vector>

#include "foxhunt/doctor/doctor.h"

namespace foxhunt::doctor {

/// log10 of the factor between two prices where that is near a power of ten, else 0.
int power_between(Price from, Price to);

/// Adds to each report what stands between it and the ones before it.
void check_between_files(std::vector<FileReport>& reports);

}  // namespace foxhunt::doctor
