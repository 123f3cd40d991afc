#if CommandLine
@testable import EspalierCLI

/// The paths at which two values differ, regardless of the order of members.
enum JSONDifferences {
    static func paths(_ a: JSONValue, _ b: JSONValue, at path: String = "") -> [String] {
        switch (a, b) {
        case (.array(let left), .array(let right)) where left.count == right.count:
            return zip(left, right).enumerated().flatMap { paths($1.0, $1.1, at: "\(path)[\($0)]") }
        case (.object(let left), .object(let right)):
            let names = Set(left.map(\.name)).union(right.map(\.name)).sorted()
            return names.flatMap { name -> [String] in
                guard let x = a[name], let y = b[name] else { return ["\(path).\(name)"] }
                return paths(x, y, at: "\(path).\(name)")
            }
        default: return a == b ? [] : [path]
        }
    }
}

extension JSONValue {
    /// The value with members in the order of their names, for comparing.
    var sorted: String { JSONWriter(memberOrder: .sorted).string(from: self) }
}
#endif
