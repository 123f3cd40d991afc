/// Where in a document its models stand: the names of members, outermost first, as in
/// `search.statuses`.
///
/// Names with a dot in them can't be written.
struct RootPath: Sendable, Equatable {
    let names: [String]

    static let document = RootPath(names: [])

    init(names: [String]) { self.names = names }

    init(parsing text: String) throws(ArgumentProblem) {
        names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.allSatisfy({ !$0.isEmpty }) else {
            throw ArgumentProblem(
                "a path is names of members with a dot between them, as in search.statuses")
        }
    }

    /// The models: the elements of the array at the path; anything else there is one model.
    func models(in document: JSONValue) throws(CommandFailure) -> [JSONValue] {
        var value = document
        for (depth, name) in names.enumerated() {
            guard let member = value[name] else {
                let path = names[...depth].joined(separator: ".")
                throw CommandFailure(
                    "the document has no \(path). Give the path to the models with --path.")
            }
            value = member
        }
        if case .array(let elements) = value { return elements }
        return [value]
    }
}
