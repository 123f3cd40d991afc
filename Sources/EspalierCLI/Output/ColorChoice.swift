import ArgumentParser
import Foundation

/// Whether output is coloured.
enum ColorChoice: String, Sendable, CaseIterable, ExpressibleByArgument {
    case auto
    case always
    case never

    /// `auto` is a terminal that understands colours, unless `NO_COLOR` is set to anything
    /// (no-color.org).
    func palette(
        isTerminal: Bool, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Palette {
        switch self {
        case .always: return Palette(isColored: true)
        case .never: return .plain
        case .auto:
            let isRefused =
                environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
            return Palette(isColored: isTerminal && !isRefused)
        }
    }
}
