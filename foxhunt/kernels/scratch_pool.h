#pragma once
// Memory of kernels between their calls: large blocks stay with the thread that freed them.
//
// The C library would cut a freed block up for the next small object, and the next call, which
// needs the same again, would take new pages: what is resident then grows with the number of
// layers. A thread here keeps as many blocks as it had at once, of the sizes it needed last.

#include <cstddef>

namespace foxhunt::kernels {

/// Uninitialised, on a 64-byte boundary. Errors  std::bad_alloc.
void* take_scratch(std::size_t bytes);
/// What take_scratch(bytes) gave; any thread may give it.
void give_scratch(void* block, std::size_t bytes) noexcept;

}  // namespace foxhunt::kernels
