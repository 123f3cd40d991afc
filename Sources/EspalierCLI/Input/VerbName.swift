import ArgumentParser

/// The first word of a command line. The parser would take one it does not know for an argument of
/// no verb, and complain of what follows instead.
enum VerbName {
    static var all: [String] {
        Espalier.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
    }

    /// Throws when `word` is there, is no option, and is no verb.
    static func check(_ word: String?) throws(ValidationError) {
        guard let word, !word.hasPrefix("-"), !all.contains(word) else { return }
        let suggestion = closest(to: word).map { " Did you mean \($0)?" } ?? ""
        throw ValidationError(
            "There is no verb \(word.isEmpty ? "of no name" : word).\(suggestion) espalier --help lists them."
        )
    }

    /// The verb that is at most two letters away.
    static func closest(to word: String) -> String? {
        let ranked = all.map { (verb: $0, distance: distance(Array(word), Array($0))) }.sorted {
            $0.distance < $1.distance
        }
        guard let first = ranked.first, first.distance <= 2, first.distance < first.verb.count
        else { return nil }
        return first.verb
    }

    /// Letters to put in, take out or exchange, neighbours that changed places counting once
    /// (Damerau, optimal alignment).
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
