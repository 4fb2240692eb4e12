#pragma once
// The door of this room: report.html of a run, and a page that compares runs.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace foxhunt::report {

/// The page of one run. Works while it trains, and on whatever is left of one. Errors  DataError
/// when `run` is no run folder.
std::string run_page(const std::filesystem::path& run);

/// The page of several: headline numbers side by side, losses overlaid, the settings that differ.
/// Whether the numbers speak of the same rows is said first. Errors  as run_page().
std::string comparison_page(const std::vector<std::filesystem::path>& runs);

/// Writes RUN/report.html and brings its TensorBoard events up to date; the page's path. For the
/// end of a training or an evaluation: what fails (a full disk) is logged as a warning and answers
/// nothing, for the work before it is done and saved.
std::optional<std::filesystem::path> write_page(const std::filesystem::path& run);

/// As write_page(), the events alone.
void write_events(const std::filesystem::path& run);

/// Of one run for programs: JSON with the headline numbers, each null with its reason where it is
/// undefined.
std::string headline_json(const std::filesystem::path& run);

}  // namespace foxhunt::report
