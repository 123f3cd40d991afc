import EspalierModels
import EspalierRecords

// An oracle of merges: dictionaries, arrays and loops, without anything of the library's own.

/// A fetched value of a field.
enum Fact: Hashable {
    case null
    case int(Int)
    case double(Double)
    case text(String)
    case list([Fact])
    case node(String)

    /// Whether this fact is greater than another one of its kind.
    func isGreater(than other: Fact) -> Bool {
        switch (self, other) {
        case (.int(let a), .int(let b)): a > b
        case (.double(let a), .double(let b)): a > b
        case (.text(let a), .text(let b)): a > b
        default: false
        }
    }
}

/// The rules, as the oracle knows them.
enum Law {
    case keepFirst, union, append, greatest
    case newest(String)
}

typealias Facts = [String: Fact]

/// One occurrence of a node in a write: what one type has fetched of it.
struct Sight {
    let node: String
    let type: String
    let facts: Facts
    let laws: [String: Law]
    /// All fields of the type.
    let names: [String]
}

/// The records that a sequence of writes should leave.
struct RuleOracle {
    private(set) var records: [String: Facts] = [:]

    /// Merges one write: the occurrences in the order of the tree.
    mutating func merge(_ sights: [Sight]) {
        for group in grouped(sights) {
            var written: Set<String> = []
            for sight in group {
                var record = records[sight.node] ?? [:]
                let before = record
                for (name, new) in sight.facts {
                    if let old = before[name], let law = sight.laws[name] {
                        record[name] = combined(old, new, law, before, sight.facts)
                    } else if before[name] == nil || !written.contains(name) {
                        record[name] = new
                    }
                }
                written.formUnion(sight.facts.keys)
                records[sight.node] = record
            }
        }
    }

    /// Replaces the fields of the types: the first occurrence counts.
    mutating func replace(_ sights: [Sight]) {
        var seen: Set<String> = []
        for sight in sights where seen.insert(sight.node).inserted {
            var record = records[sight.node] ?? [:]
            for name in sight.names { record[name] = sight.facts[name] }
            records[sight.node] = record
        }
    }

    /// Puts the occurrences of one node and type together. Returns the types of each node, in the
    /// order in which they occur first.
    private func grouped(_ sights: [Sight]) -> [[Sight]] {
        var groups: [[Sight]] = []
        for sight in sights {
            guard let group = groups.firstIndex(where: { $0[0].node == sight.node }) else {
                groups.append([sight])
                continue
            }
            guard let known = groups[group].firstIndex(where: { $0.type == sight.type }) else {
                groups[group].append(sight)
                continue
            }
            groups[group][known] = joined(groups[group][known], sight)
        }
        return groups
    }

    private func joined(_ first: Sight, _ later: Sight) -> Sight {
        var facts = first.facts
        for (name, new) in later.facts {
            guard let old = first.facts[name] else {
                facts[name] = new
                continue
            }
            guard let law = first.laws[name] else { continue }
            facts[name] = combined(old, new, law, first.facts, later.facts)
        }
        return Sight(
            node: first.node, type: first.type, facts: facts, laws: first.laws, names: first.names)
    }

    private func combined(
        _ old: Fact, _ new: Fact, _ law: Law, _ before: Facts, _ incoming: Facts
    ) -> Fact {
        switch law {
        case .keepFirst: return old
        case .newest(let stamp):
            guard let a = before[stamp], let b = incoming[stamp] else { return new }
            return a.isGreater(than: b) ? old : new
        case .greatest:
            guard case .int(let a) = old, case .int(let b) = new else { return new }
            return .int(max(a, b))
        case .union:
            guard case .list(var all) = old, case .list(let more) = new else { return new }
            for element in more where !all.contains(element) { all.append(element) }
            return .list(all)
        case .append:
            guard case .list(let all) = old, case .list(let more) = new else { return new }
            var overlap = min(all.count, more.count)
            while Array(all.suffix(overlap)) != Array(more.prefix(overlap)) { overlap -= 1 }
            return .list(all + more.dropFirst(overlap))
        }
    }
}
