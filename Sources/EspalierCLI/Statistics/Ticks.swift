import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A tick for each interval, until the process is asked to end: by Ctrl-C, or a signal like it.
final class Ticks {
    let stream: AsyncStream<Void>
    private let timer: any DispatchSourceTimer
    private let signals: SignalWatch

    init(every seconds: Double) {
        // Who does not keep up gets no more ticks for it.
        let (stream, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { continuation.yield() }
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        timer.resume()
        signals = SignalWatch([SIGINT, SIGTERM]) { _ in continuation.finish() }
    }

    deinit { timer.cancel() }
}
