// The ages of records, in a read that judges them: one that an app makes. Tools and transactions
// make reads without a rule, for which nothing expires.
//
// A read looks up the dates of those records only whose type has an age, unless its rule says that
// any record may have one.
extension TreeReader {
    /// The ages of the records that may expire.
    package var ages: TreeAges { state.ages }

    /// The records that have expired, in a read that accepts them. A record may occur twice.
    package var expired: [Handle] { state.expired }

    /// Notes the age of a record that may expire. Throws if it has expired and the read does not
    /// accept that.
    ///
    /// What the record's write said counts, then its type, then the cache. A record without a date,
    /// which a version without expiry has written, is as old as the entry of the read.
    @usableFromInline @inline(never)
    func checkAge(of handle: Handle, _ maxAge: Duration?) throws {
        guard let rule = ageRule else { return }
        guard !state.isAtEntry else {
            state.uncheckedEntry = (handle, maxAge)
            return
        }
        if let (first, last) = state.fresh, first <= handle, handle <= last { return }
        let times = try source.times(of: handle)
        let ownLimit = times?.maxAge
        guard let limit = ownLimit ?? maxAge.map(MaxAge.seconds) ?? rule.maxAge else { return }
        if ownLimit == nil { state.ages.dependsOnDates = true }
        guard let writtenAt = try times?.writtenAt ?? dateOfEntry() else { return }
        state.ages.add(writtenAt: writtenAt, maxAge: limit)
        let now = state.now ?? rule.clock.second
        state.now = now
        let age = now > writtenAt ? now - writtenAt : 0
        guard age >= limit else {
            if let times, times.maxAge != nil, times.writtenAt != nil {
                state.fresh = (times.handles.lowerBound, times.handles.upperBound)
            }
            return
        }
        guard rule.acceptsExpired else { throw stop(.expired(age: age)) }
        state.expired.append(handle)
    }

    /// Applies the maximum age and `isCacheable` of `type` to the innermost record. That record is
    /// being read as a wrapper of the model, whose own type does not say them.
    func applyTraits(of type: any IdentifiedModel.Type) throws {
        let maxAge = type.maxAge
        // Memory would find the tree by the type of the wrapper, which has no maximum age.
        if let recorder, !type.isCacheable || maxAge != nil { recorder.noteUncacheable() }
        if let maxAge, let handle = path.current { try checkAge(of: handle, maxAge) }
    }

    /// Returns when the record with which the read began was written; nil if it has no date.
    private func dateOfEntry() throws -> UInt64? {
        if let known = state.entryDate { return known }
        guard let entry = path.outermost else { return nil }
        let date = try source.times(of: entry)?.writtenAt
        state.entryDate = .some(date)
        return date
    }
}
