"""Headers for NVRTC, which has none of C++'s and C's: nvcc takes those of the host's compiler.

C++'s come from libcu++ (cuda::std), whose wheel is one of the toolchain's, under C++'s own names. Headers of things that a kernel
cannot use (streams, strings, containers) declare the common ones and define nothing, so that functions of the host compile beside
a kernel, and the assembler misses a function in a kernel that does use them.
"""

STD = "namespace std { using namespace cuda::std; }\n"

# Each includes cuda/std/NAME.
_LIBCUDACXX = ("array atomic bit chrono complex concepts cstddef cstdint ctime initializer_list iterator limits "
               "numeric optional ratio span tuple type_traits utility variant").split()

# Each includes the declarations of _HOST.
_HOST_ONLY = ("deque fstream iomanip ios iosfwd iostream istream list map mutex ostream queue set shared_mutex sstream stack "
              "streambuf string string_view thread unordered_map unordered_set vector cstdio cstdlib cstring stdio.h stdlib.h string.h").split()

_EMPTY = ("any bitset cassert cctype cerrno cinttypes condition_variable csignal filesystem forward_list "
          "future locale new numbers random regex "
          "system_error typeindex typeinfo "
          "assert.h errno.h inttypes.h math.h memory.h strings.h sys/types.h time.h "
          "unistd.h").split()

# nvcc includes these before every file. Only the part that kernels use is here. NVRTC compiles for the device alone, so that
# functions for both sides are for the device.
_BEFORE = """
#undef __host__
#define __host__
#include <cuda/std/climits>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
namespace std {
using namespace cuda::std;
using ::ptrdiff_t;
using ::size_t;
template <class A, class R> struct unary_function { using argument_type = A; using result_type = R; };
template <class A, class B, class R> struct binary_function {
  using first_argument_type = A; using second_argument_type = B; using result_type = R;
};
}
using nullptr_t = decltype(nullptr);
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#define __builtin_clz(x) __clz(static_cast<int>(x))
#define __builtin_ctz(x) (__ffs(static_cast<int>(x)) - 1)
#define __builtin_popcount(x) __popc(x)
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ll)
#define HUGE_VALF __builtin_bit_cast(float, 0x7f800000)
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fffffff)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#if __CUDA_ARCH__ >= 900
static inline __device__ void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;"); }
static inline __device__ void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif
"""

# The runtime's functions for the host. Declared, and defined nowhere.
_RUNTIME = ("DeviceCanAccessPeer DeviceEnablePeerAccess DeviceGetAttribute DeviceSynchronize EventCreate EventCreateWithFlags EventDestroy "
            "EventElapsedTime EventQuery EventRecord EventSynchronize Free FreeAsync FreeHost FuncGetAttributes FuncSetAttribute "
            "FuncSetCacheConfig GetDevice GetDeviceCount GetDeviceProperties GetLastError GetSymbolAddress HostAlloc HostGetDevicePointer "
            "HostRegister HostUnregister IpcCloseMemHandle IpcGetMemHandle IpcOpenMemHandle LaunchCooperativeKernel LaunchKernel "
            "LaunchKernelEx LaunchKernelExC Malloc MallocAsync MallocHost MallocManaged MemGetInfo Memcpy Memcpy2D Memcpy2DAsync MemcpyAsync "
            "MemcpyFromSymbol MemcpyPeer MemcpyPeerAsync MemcpyToSymbol MemcpyToSymbolAsync Memset Memset2D MemsetAsync "
            "OccupancyMaxActiveBlocksPerMultiprocessor OccupancyMaxPotentialBlockSize PeekAtLastError PointerGetAttributes SetDevice "
            "StreamCreate StreamCreateWithFlags StreamCreateWithPriority StreamDestroy StreamGetCaptureInfo StreamIsCapturing StreamQuery "
            "StreamSynchronize StreamWaitEvent").split()
_BEFORE += "".join(f"template <class... A> cudaError_t cuda{name}(A&&...);\n" for name in _RUNTIME)
_BEFORE += "const char* cudaGetErrorString(cudaError_t);\nconst char* cudaGetErrorName(cudaError_t);\n"

_FLOAT = """
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
"""

# libcu++ has no <algorithm> of its own.
_ALGORITHM = """
#include <cuda/std/utility>
namespace std {
using namespace cuda::std;
template <class T> constexpr __device__ const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr __device__ const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class C> constexpr __device__ const T& min(const T& a, const T& b, C less) { return less(b, a) ? b : a; }
template <class T, class C> constexpr __device__ const T& max(const T& a, const T& b, C less) { return less(a, b) ? b : a; }
template <class T> constexpr __device__ const T& clamp(const T& v, const T& lo, const T& hi) {
  return v < lo ? lo : hi < v ? hi : v;
}
template <class I, class T> constexpr __device__ void fill(I i, I end, const T& v) { for (; i != end; ++i) *i = v; }
template <class I, class N, class T> constexpr __device__ I fill_n(I i, N n, const T& v) {
  for (; n > 0; --n, ++i) *i = v;
  return i;
}
template <class I, class O> constexpr __device__ O copy(I i, I end, O o) {
  for (; i != end; ++i, ++o) *o = *i;
  return o;
}
}
"""

# Functions of the host throw these (nvrtc.thrown).
_STDEXCEPT = "namespace std {\nstruct exception {};\n" + "".join(
    f"struct {name} : exception {{ template <class... A> __device__ {name}(const A&...) {{}} }};\n"
    for name in ("bad_alloc", "domain_error", "invalid_argument", "length_error", "logic_error", "out_of_range", "overflow_error",
                 "range_error", "runtime_error", "underflow_error")) + "}\n"

# Declared, and defined nowhere.
_HOST = """
#include <cuda/std/cstddef>
#include <cuda/std/cstdlib>
#include <cuda/std/initializer_list>
struct FILE;
extern FILE* stdin;
extern FILE* stdout;
extern FILE* stderr;
int fprintf(FILE*, const char*, ...);
int fflush(FILE*);
char* getenv(const char*);
int atoi(const char*);
int strcmp(const char*, const char*);
size_t strlen(const char*);
void abort();
void exit(int);
namespace std {
using ::abort;
using ::exit;
using ::fprintf;
using ::getenv;
using ::strcmp;
using ::strlen;
using namespace cuda::std;
template <class T> struct allocator;
template <class C> struct char_traits;
template <class T> struct hash { size_t operator()(const T&) const; };
template <class T> struct host_range {
  using value_type = T; using size_type = size_t; using reference = T&; using const_reference = const T&;
  using iterator = T*; using const_iterator = const T*;
  T* begin(); T* end(); const T* begin() const; const T* end() const; const T* cbegin() const; const T* cend() const;
  size_t size() const; size_t length() const; bool empty() const; void clear();
  T& front(); T& back(); const T& front() const; const T& back() const;
  template <class... A> T* insert(A&&...); template <class... A> T* erase(A&&...);
};
template <class T, class A = allocator<T>> struct vector : host_range<T> {
  vector(); vector(const vector&); vector(vector&&); explicit vector(size_t); vector(size_t, const T&); vector(initializer_list<T>);
  template <class I> vector(I, I); ~vector();
  vector& operator=(const vector&); vector& operator=(vector&&);
  T& operator[](size_t); const T& operator[](size_t) const; T& at(size_t); const T& at(size_t) const; T* data(); const T* data() const;
  void push_back(const T&); void pop_back(); void push_front(const T&); void pop_front(); void resize(size_t); void resize(size_t, const T&);
  void reserve(size_t); template <class... B> T& emplace_back(B&&...); template <class... B> void assign(B&&...);
};
template <class T, class A = allocator<T>> struct deque : vector<T, A> { using vector<T, A>::vector; };
template <class T, class A = allocator<T>> struct list : vector<T, A> { using vector<T, A>::vector; };
template <class T> struct queue { void push(const T&); void pop(); T& front(); bool empty() const; size_t size() const; };
template <class T> struct stack { void push(const T&); void pop(); T& top(); bool empty() const; size_t size() const; };
template <class K, class V> struct host_entry { K first; V second; };  // cuda::std's pair takes seconds to read
template <class K, class V> struct host_map : host_range<host_entry<K, V>> {
  host_map(); host_map(const host_map&); host_map(initializer_list<host_entry<K, V>>); ~host_map(); host_map& operator=(const host_map&);
  V& operator[](const K&); V& at(const K&); const V& at(const K&) const; size_t count(const K&) const; bool contains(const K&) const;
  host_entry<K, V>* find(const K&); const host_entry<K, V>* find(const K&) const; template <class... A> void emplace(A&&...);
};
template <class K, class V, class...> struct map : host_map<K, V> { using host_map<K, V>::host_map; };
template <class K, class V, class...> struct unordered_map : host_map<K, V> { using host_map<K, V>::host_map; };
template <class K, class...> struct set : host_range<const K> {
  set(); set(const set&); set(initializer_list<K>); ~set(); size_t count(const K&) const; const K* find(const K&) const;
};
template <class K, class...> struct unordered_set : set<K> { using set<K>::set; };
template <class C> struct basic_string_view : host_range<const C> {
  basic_string_view(); basic_string_view(const C*); basic_string_view(const C*, size_t);
  const C& operator[](size_t) const; const C* data() const; basic_string_view substr(size_t, size_t = -1) const;
};
template <class C, class T = char_traits<C>, class A = allocator<C>> struct basic_string : host_range<C> {
  static constexpr size_t npos = -1;
  basic_string(); basic_string(const C*); basic_string(const C*, size_t); basic_string(size_t, C); basic_string(basic_string_view<C>);
  basic_string(const basic_string&); basic_string(basic_string&&); ~basic_string();
  basic_string& operator=(const basic_string&); basic_string& operator=(basic_string&&); basic_string& operator=(const C*);
  basic_string& operator+=(const basic_string&); basic_string& operator+=(const C*); basic_string& operator+=(C);
  C& operator[](size_t); const C& operator[](size_t) const; const C* c_str() const; const C* data() const; C* data(); void push_back(C);
  basic_string& append(const basic_string&); basic_string substr(size_t, size_t = -1) const; int compare(const basic_string&) const;
  template <class B> size_t find(const B&, size_t = 0) const; template <class B> size_t rfind(const B&) const;
  operator basic_string_view<C>() const;
};
using string = basic_string<char>;
using string_view = basic_string_view<char>;
string operator+(const string&, const string&);
string operator+(const string&, const char*);
string operator+(const char*, const string&);
string operator+(const string&, char);
bool operator==(const string&, const string&);
bool operator==(const string&, const char*);
bool operator!=(const string&, const string&);
bool operator!=(const string&, const char*);
bool operator<(const string&, const string&);
template <class T> string to_string(const T&);
int stoi(const string&);
float stof(const string&);
double stod(const string&);
struct ostream;
ostream& endl(ostream&);
ostream& flush(ostream&);
struct ostream {
  template <class T> ostream& operator<<(const T&);
  ostream& operator<<(ostream& (*)(ostream&));
  ostream& write(const char*, size_t); ostream& flush(); int precision(int); int width(int);
};
struct istream { template <class T> istream& operator>>(T&); explicit operator bool() const; istream& read(char*, size_t); };
struct ostringstream : ostream { ostringstream(); ~ostringstream(); string str() const; };
struct stringstream : ostringstream { stringstream(); explicit stringstream(const string&); template <class T> stringstream& operator>>(T&); };
struct istringstream : istream { explicit istringstream(const string&); };
struct ofstream : ostream { ofstream(); explicit ofstream(const string&); ~ofstream(); bool is_open() const; void close(); };
struct ifstream : istream { ifstream(); explicit ifstream(const string&); ~ifstream(); bool is_open() const; void close(); };
extern ostream cout;
extern ostream cerr;
extern ostream clog;
extern istream cin;
int setw(int);
int setprecision(int);
int setfill(char);
int hex(int);
int fixed(int);
template <class F> struct function;
template <class R, class... A> struct function<R(A...)> {
  function(); template <class F> function(F); ~function(); R operator()(A...) const; explicit operator bool() const;
};
template <class T> struct shared_ptr {
  shared_ptr(); explicit shared_ptr(T*); shared_ptr(const shared_ptr&); ~shared_ptr(); shared_ptr& operator=(const shared_ptr&);
  T* get() const; T& operator*() const; T* operator->() const; explicit operator bool() const; void reset();
};
template <class T, class... A> shared_ptr<T> make_shared(A&&...);
template <class I> void sort(I, I);
template <class I, class L> void sort(I, I, L);
struct mutex { mutex(); ~mutex(); void lock(); void unlock(); };
template <class M> struct lock_guard { explicit lock_guard(M&); ~lock_guard(); };
template <class M> struct unique_lock { explicit unique_lock(M&); ~unique_lock(); };
struct once_flag { once_flag(); };
template <class F, class... A> void call_once(once_flag&, F&&, A&&...);
}
"""

BEFORE = "kernelmill_before.h"  # the name under which NVRTC includes it first
HOST = "kernelmill_host.h"


def headers():
    """Returns {name: text}."""
    texts = {BEFORE: _BEFORE, "algorithm": _ALGORITHM, "cfloat": _FLOAT, "float.h": _FLOAT, "cmath": "#include <cuda/std/cmath>\n" + STD,
             "climits": "#include <cuda/std/climits>\n", "limits.h": "#include <cuda/std/climits>\n",
             "stddef.h": "#include <cuda/std/cstddef>\n", "stdint.h": "#include <cuda/std/cstdint>\n", "stdexcept": _STDEXCEPT, "exception": "#include <stdexcept>\n"}
    texts.update({name: f"#include <cuda/std/{name}>\n{STD}" for name in _LIBCUDACXX})
    texts.update({name: STD for name in _EMPTY})
    texts[HOST] = _HOST
    texts.update({name: f"#include <{HOST}>\n" for name in _HOST_ONLY})
    texts.update({name: f"#include <cuda/std/{name}>\n#include <{HOST}>\n" for name in ("functional", "memory")})  # slow ones
    return {name: "#pragma once\n" + text for name, text in texts.items()}
