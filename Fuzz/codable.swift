import EspalierRecords
import Foundation

// Reads arbitrary values, in a record with the right check, as `Codable` models. The first byte
// holds the shape and the number of children; the record refers to itself and to others. A value
// that does not fit a model must be an error.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    guard let options = bytes.first else { return 0 }
    let number = UInt64(options % 4)
    let shape: RecordLayout.ShapeReference =
        FuzzedRecords.shapes[number].map { .number(number, $0) }
        ?? .own(Shape(type: "Own", fields: ["id", "choice"]))
    let handle = Handle(2)
    let source = FuzzedRecords()
    source.record = RecordLayout.build(
        handle: handle, nameSpace: .node, shape: shape,
        children: (0..<UInt64(options >> 4)).map { Handle(2 + $0) },
        identifier: "x", values: Array(bytes.dropFirst()))
    read(Thing.self, handle, source)
    read(Note.self, handle, source)
    read(Own.self, handle, source)
    read([Thing?].self, handle, source)
    read([String: Note].self, handle, source)
    return 0
}

private func read<Model: Decodable>(_ type: Model.Type, _ handle: Handle, _ source: FuzzedRecords) {
    var limits = TreeLimits()
    limits.maximumNodes = 200
    let treeReader = TreeReader(source: source, limits: limits)
    _ = treeReader.read("x") {
        try ModelStorage.decode(type, entry: handle, identifier: "x", of: treeReader)
    }
}

private struct Person: Codable, Hashable, IdentifiedModel {
    var id: String
    var name: String?
    var modelIdentifier: String? { id }
}

private struct Note: Codable, Hashable, IdentifiedModel {
    var id: String
    var author: Person?
    var modelIdentifier: String? { id }
}

private enum Choice: Codable, Hashable {
    case one
    case person(Person)
    case pair(first: Int, second: [Person])
}

private struct Own: Codable, Hashable, IdentifiedModel {
    var id: Int?
    var choice: Choice
    var modelIdentifier: String? { nil }
}

private final class Thing: Codable, IdentifiedModel, @unchecked Sendable {
    let id: String?
    let list: [Person?]?
    let map: [Int: Set<Double>]?
    let number: Decimal?
    let child: Thing?
    let text: URL?
    let date: Date?
    var modelIdentifier: String? { id }
}
