#pragma once
// Counts what operator new hands out, for programs that link the object library
// `foxhunt_count_allocations`: it replaces every form of operator new and delete. A program that
// calls these functions without linking it does not link.
//
// malloc() called directly is not counted; nothing of ours calls it.

#include <cstdint>

namespace foxhunt::latency {

/// By the calling thread since it began: calls of any operator new.
std::int64_t thread_allocations() noexcept;
/// By the calling thread since it began: calls of any operator delete on memory.
std::int64_t thread_frees() noexcept;

}  // namespace foxhunt::latency
