#include "foxhunt/latency/count_locks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <cstdlib>

namespace {

constinit thread_local std::int64_t locks = 0;

/// The C library's own function of that name. Found on first use: dlsym() may lock itself, through
/// names that are not these.
template <class Fn>
Fn behind(Fn& known, const char* name) noexcept {
  Fn found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    found = reinterpret_cast<Fn>(::dlsym(RTLD_NEXT, name));
    if (found == nullptr) std::abort();  // a C library without mutexes: there is no way on
    __atomic_store_n(&known, found, __ATOMIC_RELEASE);
  }
  return found;
}

}  // namespace

namespace foxhunt::latency {
std::int64_t thread_locks() noexcept { return locks; }
}  // namespace foxhunt::latency

#define FOXHUNT_COUNTED(name, type)          \
  extern "C" int name(type* lock) noexcept { \
    static int (*known)(type*) = nullptr;    \
    ++locks;                                 \
    return behind(known, #name)(lock);       \
  }
#define FOXHUNT_COUNTED_UNTIL(name, type)                           \
  extern "C" int name(type* lock, const timespec* until) noexcept { \
    static int (*known)(type*, const timespec*) = nullptr;          \
    ++locks;                                                        \
    return behind(known, #name)(lock, until);                       \
  }

FOXHUNT_COUNTED(pthread_mutex_lock, pthread_mutex_t)
FOXHUNT_COUNTED(pthread_mutex_trylock, pthread_mutex_t)
FOXHUNT_COUNTED_UNTIL(pthread_mutex_timedlock, pthread_mutex_t)
FOXHUNT_COUNTED(pthread_spin_lock, volatile pthread_spinlock_t)
FOXHUNT_COUNTED(pthread_spin_trylock, volatile pthread_spinlock_t)
FOXHUNT_COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
FOXHUNT_COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)
FOXHUNT_COUNTED(pthread_rwlock_tryrdlock, pthread_rwlock_t)
FOXHUNT_COUNTED(pthread_rwlock_trywrlock, pthread_rwlock_t)
