import EspalierRecords
import EspalierStore

extension Inspection {
    /// What to say besides "not found": where else something of that name stands. Nodes, keys and
    /// collections have a name space each.
    func advice(onMissing entry: EntryOptions.Entry) throws -> String {
        let name =
            switch entry {
            case .node(let name), .collection(let name), .key(let name): name
            }
        if case .collection = entry {
        } else if try handle(of: name, in: .collection) != nil {
            return "; there is a collection of that name: --collection"
        }
        if case .node = entry, try handle(of: name, in: .key) != nil {
            return "; there is a key of that name: --key"
        }
        if case .collection = entry {
            if try handle(of: name, in: .node) != nil { return "; there is a node of that name" }
            if try handle(of: name, in: .key) != nil {
                return "; there is a key of that name: --key"
            }
        }
        return ""
    }
}
