/// The arguments of a command: words, and options that each have a value.
///
/// ```swift
/// let arguments = try Arguments(["kill", "--seed", "7"])
/// try arguments.number("seed", 1)  // 7
/// ```
struct Arguments {
    private(set) var words: [String] = []
    private var options: [String: String] = [:]

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let first = rest.popFirst() {
            guard first.hasPrefix("--") else {
                words.append(first)
                continue
            }
            guard let value = rest.popFirst() else { throw Mistake("\(first) needs a value") }
            options[String(first.dropFirst(2))] = value
        }
    }

    subscript(name: String) -> String? { options[name] }

    func required(_ name: String) throws -> String {
        guard let value = options[name] else { throw Mistake("--\(name) is missing") }
        return value
    }

    func number(_ name: String, _ standard: Int) throws -> Int {
        guard let text = options[name] else { return standard }
        guard let value = Int(text) else { throw Mistake("--\(name) needs a number") }
        return value
    }

    func isSet(_ name: String) -> Bool { options[name] == "yes" }
}

/// An error in the arguments or the surroundings, and not in the cache.
struct Mistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
