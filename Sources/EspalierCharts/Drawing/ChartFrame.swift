/// What all charts have around the drawing: title and subtitle above it, a note below.
struct ChartFrame {
    static let width = 780.0
    static let margin = 24.0

    let title: String
    let subtitle: String?
    let note: String?

    static var inside: Double { width - 2 * margin }

    /// Draws the head and returns where the drawing may begin.
    func head(on canvas: inout Canvas) -> Double {
        var y = 18.0
        for line in title.lines(to: Self.inside, at: 17, bold: true) {
            y += 22
            canvas.text(line, x: Self.margin, y: y - 4, style: "title")
        }
        for line in (subtitle ?? "").lines(to: Self.inside, at: 13) {
            y += 18
            canvas.text(line, x: Self.margin, y: y, style: "subtitle")
        }
        return y + 16
    }

    /// Draws the note below `y` and returns how high all of it is.
    func foot(below y: Double, on canvas: inout Canvas) -> Double {
        var y = y
        for line in (note ?? "").lines(to: Self.inside, at: 11.5) {
            y += 16
            canvas.text(line, x: Self.margin, y: y, style: "note")
        }
        return y + 18
    }

    /// A chart that has nothing to show says so.
    func empty(_ kind: String) -> String {
        var canvas = Canvas()
        let y = head(on: &canvas)
        canvas.text("Nothing was measured.", x: Self.margin, y: y + 24, style: "empty")
        let height = foot(below: y + 36, on: &canvas)
        return canvas.document(
            width: Self.width, height: height, title: title,
            description: "\(kind). Nothing was measured.")
    }
}
