import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Is told of signals that would end the process, until it is cancelled: from then on they end it
/// again.
final class SignalWatch {
    private var sources: [(number: Int32, source: any DispatchSourceSignal)] = []

    init(_ numbers: [Int32], _ handler: @escaping @Sendable (_ number: Int32) -> Void) {
        sources = numbers.compactMap { number in
            // What was ignored before, as by nohup, stays so.
            guard !Terminal.isIgnored(number) else { return nil }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { handler(number) }
            source.resume()
            return (number, source)
        }
    }

    deinit { cancel() }

    func cancel() {
        for (number, source) in sources {
            source.cancel()
            // Left ignored, it would be so in every process that is started from here on.
            signal(number, SIG_DFL)
        }
        sources = []
    }
}
