import EspalierStore

/// What a full cache holds, with and without compression.
struct CompressionSpaceReport: Printable {
    let space: CompressionBench.Space

    var report: Report {
        var report = Report(
            .list,
            columns: [
                .left("compression"), .right("records"), .right("meanBytes", "mean bytes"),
                .right("ofRaw", "of raw"), .right("fileBytes", "file bytes a record"), .right("feeds"),
                .right("toBlobs", "to blobs of 119 kB"), .right("toOwnBlobs", "to blobs of their own"),
                .left("isClean", "clean"),
            ])
        let rawMean = mean(space.raw)
        for (name, result) in [("none", space.raw), ("zstd 3", space.compressed)] {
            let feeds = Double(result.sizes.first { $0.type == "WorkloadFeed" }?.records ?? 0)
            let budget = Double(result.budget.bytes)
            report.append([
                .text(name), .count(result.statistics.records), .real(mean(result), decimals: 1),
                .real(mean(result) / rawMean, decimals: 3),
                .real(mean(result) + result.overhead, decimals: 1), .count(Int(feeds)),
                .real(feeds / (budget / Double(CompressionBench.blobBytes)), decimals: 2),
                .real(feeds / (budget / Double(space.blobBytes)), decimals: 2),
                .flag(result.isClean),
            ])
        }
        return report
    }

    private func mean(_ result: EvictionBench.Result) -> Double {
        Double(result.statistics.recordBytes.bytes) / Double(max(1, result.statistics.records))
    }
}

/// What the records of each type take.
struct TypeSizesReport: Printable {
    let sizes: [TypeSizes]

    var report: Report {
        var report = Report(
            .list,
            columns: [.left("type"), .right("records"), .right("raw"), .right("stored"), .right("ratio")])
        for size in sizes {
            report.append([
                .text(size.type), .count(size.records), .count(size.raw), .count(size.stored),
                .real(size.ratio, decimals: 3),
            ])
        }
        return report
    }
}

/// What compression costs in time.
struct CompressionTimeReport: Printable {
    let time: CompressionBench.Time

    var report: Report {
        Report(facts: [
            ("rawReadMicroseconds", "reading a feed, raw, us", .real(time.rawRead, decimals: 0)),
            ("compressedReadMicroseconds", "reading a feed, compressed, us", .real(time.compressedRead, decimals: 0)),
            ("readRatio", "to raw", .real(time.compressedRead / time.rawRead, decimals: 2)),
            ("meanPayload", "mean payload, bytes", .real(time.meanPayload, decimals: 1)),
            ("copyAndCheckNanoseconds", "copying and checking a payload, ns", .real(time.copyAndCheck, decimals: 0)),
            ("compressingNanoseconds", "compressing it, ns", .real(time.compressing, decimals: 0)),
            ("compressingRatio", "to copying and checking", .real(time.compressing / time.copyAndCheck, decimals: 1)),
        ])
    }
}
