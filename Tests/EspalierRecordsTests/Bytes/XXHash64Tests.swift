import EspalierRecords
import Testing

/// The published vectors are those of xxHash's own sanity check. The others were computed once with
/// `xxhsum -H64` 0.8.1.
@Suite("The hash function XXH64")
struct XXHash64Tests {
    /// The buffer of xxHash's sanity check.
    static let sanityBuffer: [UInt8] = {
        var generator: UInt32 = 2_654_435_761
        return (0..<101).map { _ in
            defer { generator &*= generator }
            return UInt8(generator >> 24)
        }
    }()
    static let seed: UInt64 = 2_654_435_761

    @Test(
        "XXH64 gives the published values of its specification",
        arguments: [
            (0, 0, 0xEF46_DB37_51D8_E999), (0, seed, 0xAC75_FDA2_929B_17EF),
            (1, 0, 0x4FCE_394C_C889_52D8),
            (1, seed, 0x7398_40CB_819F_A723), (14, 0, 0xCFFA_8DB8_81BC_3A3D),
            (14, seed, 0x5B96_1158_5EFC_C9CB),
            (101, 0, 0x0EAB_5433_84F8_78AD), (101, seed, 0xCAA6_5939_306F_1E21),
        ] as [(Int, UInt64, UInt64)])
    func published(count: Int, seed: UInt64, expected: UInt64) throws {
        #expect(XXHash64.hash(Array(Self.sanityBuffer[..<count]), seed: seed) == expected)
    }

    @Test(
        "XXH64 gives the values of xxhsum for every length of the tail",
        arguments: [
            (1, 0x1f25_c8d0_bc1f_4bb6), (3, 0x31d2_363f_52e5_64c9), (4, 0x9bb6_4b7d_66ee_9fda),
            (5, 0xc760_8efd_db70_51fe), (7, 0x9a7b_1499_59ce_60d8), (8, 0xdab9_9d95_c6f9_0092),
            (9, 0x170b_b6bf_975b_4c02), (11, 0x7a52_cc94_57cf_1a1f), (12, 0xd52e_4078_33af_5133),
            (15, 0x1b47_cb82_43cc_8e32), (16, 0x4348_5023_2b78_7be2), (17, 0x1efa_7025_f1b9_7a7a),
            (31, 0xa2aa_5f33_cc4a_6119), (32, 0x23c3_c17e_f790_fd97), (33, 0x50a7_cfc7_ba58_8784),
            (39, 0x880b_beea_606e_4b37), (40, 0xb620_306b_253d_76b6), (63, 0x5e3e_54b4_31c7_493c),
            (64, 0x0eb6_4b3e_f6ee_b01f), (65, 0xa383_b724_b2bd_12f1), (100, 0xa61f_8d4c_170f_e531),
            (1000, 0x5f23_5fa0_33f1_a3fb),
        ] as [(Int, UInt64)])
    func tails(count: Int, expected: UInt64) throws {
        #expect(
            XXHash64.hash((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }) == expected)
    }

    @Test("XXH64 of text is that of its bytes")
    func text() throws {
        #expect(XXHash64.hash(Array("abc".utf8)) == 0x44bc_2cf5_ad77_0999)
        #expect(
            XXHash64.hash(Array("Nobody inspects the spammish repetition".utf8))
                == 0xfbce_a83c_8a37_8bf1)
    }

    @Test("Writer and reader compute the same check of the same bytes, wherever they start")
    func readerAndWriter() throws {
        let bytes = Self.sanityBuffer
        for start in [0, 1, 7, 40, 101] {
            let expected = XXHash64.hash(Array(bytes[start...]), seed: 5)
            try reading(bytes) { #expect($0.check(of: start..<bytes.count, seed: 5) == expected) }
            var writer = ByteWriter()
            writer.append(bytes)
            #expect(writer.check(from: start, seed: 5) == expected)
        }
    }
}
