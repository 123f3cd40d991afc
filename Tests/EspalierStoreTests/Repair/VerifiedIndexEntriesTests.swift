import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Verified index entries")
struct VerifiedIndexEntriesTests {
    @Test("A handle is verified from its insertion until its removal")
    func lifetime() {
        let names = VerifiedIndexEntries()
        #expect(!names.contains(Handle(1)))
        names.remove(Handle(1))
        for number: UInt64 in [1, 2, 32_767, 32_768, 1 << 40] { names.insert(Handle(number)) }
        for number: UInt64 in [1, 2, 32_767, 32_768, 1 << 40] where number != 32_768 {
            #expect(names.contains(Handle(number)))
        }
        names.remove(Handle(2))
        #expect(!names.contains(Handle(2)))
        #expect(names.contains(Handle(1)))
        names.removeAll()
        #expect(!names.contains(Handle(1)))
    }

    @Test("Of handles that share a slot at most one is verified, and none is mistaken for another")
    func sharedPlaces() {
        let names = VerifiedIndexEntries()
        let handles = (0..<4).map { Handle(7 + $0 * 32_768) }
        for handle in handles {
            names.insert(handle)
            #expect(handles.filter(names.contains) == [handle])
        }
        names.remove(handles[0])
        #expect(handles.filter(names.contains) == [handles[3]])
    }

    @Test("A handle too high for a slot is never verified")
    func highHandles() {
        let names = VerifiedIndexEntries()
        names.insert(Handle(.max))
        names.insert(Handle(1 << 47))
        #expect(!names.contains(Handle(.max)))
        #expect(!names.contains(Handle(1 << 47)))
    }
}
