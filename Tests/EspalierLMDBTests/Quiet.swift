import Foundation

/// For exit tests, whose process is to die: no core file.
func quiet() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if os(Linux)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #else
    _ = unsafe setrlimit(RLIMIT_CORE, &none)
    #endif
}
