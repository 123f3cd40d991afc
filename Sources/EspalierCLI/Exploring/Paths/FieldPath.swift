/// Where in a record a value stands: `entities.media[0].url`.
///
/// Names have a dot before them, places in an array stand in brackets. A name that is empty or has
/// a dot or a bracket in it is quoted as in JSON, in brackets: `["a.b"]`. The path of the whole
/// value is empty.
struct FieldPath: Sendable, Hashable {
    enum Step: Sendable {
        case name(String)
        /// The place in an array, or the key of a dictionary whose keys are integers.
        case index(Int)
    }

    var steps: [Step] = []

    func appending(_ step: Step) -> FieldPath { FieldPath(steps: steps + [step]) }
}

// Names are compared by their bytes, as everywhere.
extension FieldPath.Step: Hashable {
    static func == (left: FieldPath.Step, right: FieldPath.Step) -> Bool {
        switch (left, right) {
        case (.name(let left), .name(let right)): left.hasSameBytes(as: right)
        case (.index(let left), .index(let right)): left == right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .name(let name): hasher.combine(name)
        case .index(let index): hasher.combine(index)
        }
    }
}

extension FieldPath: CustomStringConvertible {
    var description: String {
        steps.enumerated().reduce(into: "") { text, step in
            switch step.element {
            case .index(let index): text += "[\(index)]"
            case .name(let name)
            where name.isEmpty || name.unicodeScalars.contains { $0 == "." || $0 == "[" }:
                text += "[" + JSONWriter().string(from: .string(name)) + "]"
            case .name(let name): text += step.offset == 0 ? name : ".\(name)"
            }
        }
    }
}
