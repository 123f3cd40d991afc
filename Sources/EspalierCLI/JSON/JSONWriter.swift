#if CommandLine
import EspalierRecords

/// Writes JSON values as text, on one line or indented by two spaces.
///
///     print(JSONWriter(style: .pretty).string(from: ["id": 7]))
///
/// The text is always valid JSON. Infinities and NaN, which no JSON text contains, become `null`.
struct JSONWriter {
    var style: Style = .compact
    var memberOrder: MemberOrder = .given
    /// Whether characters that a terminal obeys or does not show are escaped, besides those that
    /// JSON requires to be.
    var escapesUnprintable = false

    enum Style: Sendable {
        case compact, pretty
    }

    enum MemberOrder: Sendable {
        case given

        /// By the bytes of the names.
        case sorted
    }

    func string(from value: JSONValue) -> String {
        String(decoding: bytes(from: value), as: UTF8.self)
    }

    func bytes(from value: JSONValue) -> [UInt8] {
        var output: [UInt8] = []
        write(value, level: 0, to: &output)
        return output
    }

    private func write(_ value: JSONValue, level: Int, to output: inout [UInt8]) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): output.append(contentsOf: (number.text ?? "null").utf8)
        case .string(let text): write(text, to: &output)
        case .array(let elements):
            write(elements, between: "[", and: "]", level: level, to: &output) { element, output in
                write(element, level: level + 1, to: &output)
            }
        case .object(let members):
            write(ordered(members), between: "{", and: "}", level: level, to: &output) {
                member, output in
                write(member.name, to: &output)
                output.append(contentsOf: (style == .pretty ? ": " : ":").utf8)
                write(member.value, level: level + 1, to: &output)
            }
        }
    }

    private func write<Item>(
        _ items: [Item], between open: Unicode.Scalar, and close: Unicode.Scalar, level: Int,
        to output: inout [UInt8], each writeItem: (Item, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (position, item) in items.enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            breakLine(level: level + 1, in: &output)
            writeItem(item, &output)
        }
        if !items.isEmpty { breakLine(level: level, in: &output) }
        output.append(UInt8(ascii: close))
    }

    private func breakLine(level: Int, in output: inout [UInt8]) {
        guard style == .pretty else { return }
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }

    private func ordered(_ members: [JSONMember]) -> [JSONMember] {
        switch memberOrder {
        case .given: members
        case .sorted: members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }

    private func write(_ text: String, to output: inout [UInt8]) {
        guard escapesUnprintable, text.unicodeScalars.contains(where: \.isUnprintable) else {
            return JSONText.write(text, to: &output)
        }
        output.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            if scalar.isASCII, scalar.value != 0x7F {
                JSONText.writeEscaped(UInt8(scalar.value), to: &output)
            } else {
                output.append(
                    contentsOf: (scalar.isUnprintable ? scalar.jsonEscape : String(scalar)).utf8)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
#endif
