import EspalierRecords
import Foundation
import Testing

@Suite("Every value has one form, the shortest")
struct ShortestFormTests {
    @Test(
        "Integers take the fewest bytes at every boundary",
        arguments: [
            (0, 1), (127, 1), (128, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 5),
            (4_294_967_295, 5),
            (4_294_967_296, 9), (.max, 9), (-1, 1), (-32, 1), (-33, 2), (-128, 2), (-129, 3),
            (-32_768, 3),
            (-32_769, 5), (-2_147_483_648, 5), (-2_147_483_649, 9), (.min, 9),
        ] as [(Int64, Int)])
    func integers(value: Int64, count: Int) throws {
        let bytes = try encoded(value)
        #expect(bytes.count == count)
        #expect(try takenWhole(bytes) { try $0.readInteger(Int64.self) } == value)
    }

    @Test("Equal integers of all Swift types are equal bytes")
    func integerTypes() throws {
        #expect(try encoded(Int8(5)) == encoded(UInt64(5)))
        #expect(try encoded(Int64(200)) == encoded(UInt8(200)))
        #expect(try encoded(Int128(-7)) == encoded(Int(-7)))
        #expect(try encoded(UInt128(7)) == encoded(Int(7)))
        #expect(try encoded(UInt64.max) == encoded(UInt128(UInt64.max)))
    }

    @Test("An integer is read as any type that it fits, and as no other")
    func narrowing() throws {
        func take<I: FixedWidthInteger>(_ type: I.Type, _ bytes: [UInt8]) throws -> I? {
            try ByteReader.reading(bytes) { reader in
                let value = try reader.readInteger(type)
                if value == nil { #expect(reader.position == 0) }
                return value
            }
        }
        #expect(try take(Int8.self, encoded(127)) == 127)
        #expect(try take(Int8.self, encoded(128)) == nil)
        #expect(try take(UInt8.self, encoded(255)) == 255)
        #expect(try take(UInt8.self, encoded(-1)) == nil)
        #expect(try take(Int64.self, encoded(UInt64.max)) == nil)
        #expect(try take(UInt64.self, encoded(UInt64.max)) == .max)
        #expect(try take(Int128.self, encoded(Int128.min)) == .min)
        #expect(try take(UInt128.self, encoded(UInt128.max)) == .max)
        #expect(try take(UInt64.self, encoded(Int128.max)) == nil)
        #expect(try take(Int.self, encoded("text")) == nil)
    }

    @Test("The heads of strings, bytes, arrays and maps grow at the boundaries of their widths")
    func heads() throws {
        for (count, head) in [
            (0, 1), (31, 1), (32, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 5),
        ] {
            #expect(try encoded(String(repeating: "a", count: count)).count == count + head)
        }
        for (count, head) in [(0, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 5)] {
            #expect(try encoded(Data(count: count)).count == count + head)
        }
        for (count, head) in [(0, 1), (15, 1), (16, 3), (65_535, 3), (65_536, 5)] {
            #expect(try encoded([Bool](repeating: true, count: count)).count == count + head)
            #expect(written { $0.append(mapOf: count) }.count == head)
        }
    }

    @Test("The ordinals of children grow at 256 and 65,536")
    func children() throws {
        for (ordinal, count) in [
            (0, 3), (255, 3), (256, 4), (65_535, 4), (65_536, 6), (Int(UInt32.max), 6),
        ] {
            let bytes = written { $0.append(child: ordinal) }
            #expect(bytes.count == count)
            #expect(try taken(bytes) { try $0.readChild() } == ordinal)
        }
    }

    @Test("Sets and dictionaries are written in one order, in whatever order they were filled")
    func order() throws {
        let names = (0..<50).map { "name \($0 * 37 % 50)" }
        let set = try encoded(Set(names))
        let table = try encoded(Dictionary(uniqueKeysWithValues: names.map { ($0, $0.count) }))
        for _ in 0..<20 {
            let shuffled = names.shuffled()
            var other: Set<String> = Set(minimumCapacity: Int.random(in: 50...500))
            shuffled.forEach { other.insert($0) }
            #expect(try encoded(other) == set)
            var entries: [String: Int] = Dictionary(minimumCapacity: Int.random(in: 50...500))
            shuffled.forEach { entries[$0] = $0.count }
            #expect(try encoded(entries) == table)
        }
    }

    @Test("Floating-point values keep every bit")
    func floats() throws {
        for value in [
            0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            0.1,
        ]
            as [Double]
        {
            let bytes = try encoded(value)
            #expect(try taken(bytes) { try $0.readDouble() }?.bitPattern == value.bitPattern)
            let float = Float(value)
            #expect(
                try taken(encoded(float)) { try $0.readFloat() }?.bitPattern == float.bitPattern)
        }
    }
}
