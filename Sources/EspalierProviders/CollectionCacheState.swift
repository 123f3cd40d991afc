import EspalierConsistency
import EspalierModels
import EspalierRecords

/// What a shared collection knows about the collection that the cache has under its key.
///
///     in step --edit--> edits open --all applied--> in step
///                         |    |
///                         |    +--out of date--> the whole list is sent --> in step
///                         +--failed, or not to be saved--> behind
///                                     behind --next saved edit: the whole list is sent--> in step
///
/// A `SharedCacheDelegate` takes the list without the models of its elements, which then stay as
/// the cache has them. The manager sends a model where it posts it, at the same place in the order
/// of all changes, so that the screens and the cache end with the same model. Only the models in
/// `lacking` are sent later than that: `resent` tells which of them may have replaced newer ones.
///
/// An edit that fails is told to its provider and to `failures`, and is kept in `lacking` until the
/// next edit of the list that is saved. It is lost if the list goes before. Nothing here waits: an
/// edit is open until the cache has replied.
struct CollectionCacheState<T: SimpleModel> {
    /// The time at which the cache was last sent all elements, with or without their models.
    private(set) var lastSent = ChangeTime.zero
    /// The last write of all elements. Its outcome is also that of the edits that it replaces.
    private(set) var lastWhole: WriteCall?
    /// Whether the cache lacks an edit: one that failed, or that was not to be saved.
    ///
    /// The list then no longer follows what others do to the list in the cache, because that would
    /// take the edit off the screen. The next edit that is saved sends the whole list, over what
    /// others have done to it meanwhile, and with it the models in `lacking`.
    private(set) var isBehind = false
    /// Whether a read was a miss. The list then follows the cache although it is not known.
    private(set) var wasMissed = false
    /// Why a read missed elements that the cache has. Edits would replace them, and are not saved.
    private(set) var unreadReason: MissReason?
    /// Whether a read would take edits that the cache lacks off the screen.
    var hasUnsaved: Bool { isBehind && unreadReason == nil }
    /// The elements whose models the cache lacks, because their edit failed or was not to be saved;
    /// each with the policy of the edit.
    private(set) var lacking: [String: TreePolicy] = [:]
    /// The elements whose models were sent again, each with the time.
    private var resent: [String: ChangeTime] = [:]
    /// The number of edits whose outcome is not known yet.
    private(set) var openEdits = 0
    /// The elements of these edits. The cache may lack them; it has all other elements as they are
    /// shown, or newer.
    private var unconfirmed: Set<String> = []
    /// Those of `unconfirmed` that were read from the cache meanwhile, perhaps without the edit.
    /// They are read again when no edit is open.
    private var unread: Set<String> = []
    /// Whether to read the elements again when no edit is open; nil for no. `true` if a collection
    /// that the cache no longer has then becomes empty.
    private var refreshAfterEdits: Bool?

    private static func names(_ elements: [T]) -> [String] {
        elements.compactMap(\.modelIdentifier)
    }

    // MARK: Edits

    mutating func beginEdit(of elements: [T]) {
        openEdits += 1
        unconfirmed.formUnion(Self.names(elements))
    }

    /// Ends an edit. When no edit is open, returns what is to be read again.
    mutating func endEdit() -> (nodes: Set<String>, list: Bool?)? {
        openEdits -= 1
        guard openEdits == 0 else { return nil }
        unconfirmed = []
        defer { (unread, refreshAfterEdits) = ([], nil) }
        return (unread, refreshAfterEdits)
    }

    /// Returns whether an element belongs to an open edit, and notes that it is to be read again.
    mutating func isUnconfirmed(_ name: String) -> Bool {
        guard unconfirmed.contains(name) else { return false }
        unread.insert(name)
        return true
    }

    mutating func refreshAfterEdits(clearing: Bool) {
        refreshAfterEdits = clearing || refreshAfterEdits == true
    }

    /// Notes an edit that failed. Since `time` all elements may have been sent, with their models:
    /// the cache then lacks nothing.
    mutating func noteFailure(of elements: [T], _ policy: TreePolicy, since time: ChangeTime) {
        if isWholeSent(since: time), lastWhole?.keepsModels == false { return }
        noteUnsaved(elements, policy)
    }

    /// Notes an edit that the cache lacks.
    mutating func noteUnsaved(_ elements: [T], _ policy: TreePolicy) {
        isBehind = true
        noteLacking(elements, policy)
    }

    /// Notes that the cache had no elements to show, and why if it has elements all the same.
    mutating func noteMiss(_ reason: MissReason?) {
        wasMissed = true
        unreadReason = reason
    }

    /// Notes that the list has all its elements. Edits of one that was not read were not saved, and
    /// are gone with it.
    mutating func noteAllElements() {
        guard unreadReason != nil else { return }
        (unreadReason, isBehind, lacking) = (nil, false, [:])
    }

    /// Notes elements whose models are to be sent with the list.
    mutating func noteLacking(_ elements: [T], _ policy: TreePolicy) {
        for name in Self.names(elements) { lacking[name] = policy }
    }

    // MARK: The whole list

    func isWholeSent(since time: ChangeTime) -> Bool { lastWhole != nil && lastSent.after(time) }

    /// Notes that the cache is sent elements that it may have newer.
    mutating func noteSent() { lastSent = ChangeTime() }

    /// Notes that the cache is sent the whole list, by `call`.
    mutating func noteWhole(_ call: WriteCall) {
        noteSent()
        lastWhole = call
        isBehind = false
        guard !call.keepsModels else { return }
        lacking = [:]
        resent = [:]
    }

    /// Notes that a write of the whole list failed. `elements` are those sent with their models.
    mutating func noteFailure(of call: WriteCall, _ elements: [T], _ policy: TreePolicy) {
        if lastWhole === call { noteUnsaved(elements, policy) }
    }

    /// Removes and returns those elements whose models the cache lacks, for each policy.
    mutating func takeLacking(of elements: [T]) -> [(policy: TreePolicy, models: [T])] {
        guard !lacking.isEmpty else { return [] }
        let policies = lacking
        lacking = [:]
        return TreePolicy.allCases.compactMap { policy in
            let models = elements.filter { policies[$0.modelIdentifier ?? ""] == policy }
            return models.isEmpty ? nil : (policy, models)
        }
    }

    // MARK: Models that were sent again

    mutating func noteResent(_ elements: [T]) {
        let now = ChangeTime()
        for name in Self.names(elements) { resent[name] = now }
    }

    /// Returns the elements that were sent again after an update at `time`.
    func resent(_ elements: [T], after time: ChangeTime) -> [T] {
        guard !resent.isEmpty else { return [] }
        return elements.filter { $0.modelIdentifier.flatMap { resent[$0] }?.after(time) ?? false }
    }
}
