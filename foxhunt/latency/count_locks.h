#pragma once
// Counts locks, also those that are taken without a system call, for programs that link the object
// library `foxhunt_count_locks`: it stands before the C library's mutexes, spin locks and
// read-write locks, which std::mutex, std::shared_mutex and their kin go through.
//
// Not counted: loops of our own on an atomic (there are none), and the C library's locks of its
// own, as in malloc (count_allocations.h sees those calls). Not linked under sanitizers, which
// stand there themselves.

#include <cstdint>

namespace foxhunt::latency {

/// By the calling thread since it began: locks taken or tried.
std::int64_t thread_locks() noexcept;

}  // namespace foxhunt::latency
