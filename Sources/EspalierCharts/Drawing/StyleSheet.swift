/// How charts look: ink, muted ink and hues that are told apart in print, by those who see few
/// colours, and on a dark page.
enum StyleSheet {
    /// How many hues there are before they come again.
    static let hues = 8

    private struct Theme {
        let page, border, ink, muted, grid, axis, bar: String
        let hues: [String]

        /// CSS, every rule behind `indent`.
        var rules: [String] {
            [
                ".page{fill:\(page);stroke:\(border)}",
                ".title,.label,.value{fill:\(ink)}",
                ".subtitle,.tick,.note,.section,.detail,.axis-title,.empty{fill:\(muted)}",
                ".grid{stroke:\(grid)}",
                ".axis{stroke:\(axis)}",
                ".leader{stroke:\(muted)}",
                ".bar{fill:\(bar)}",
                ".bar.main{fill:\(hues[0])}",
            ]
                + hues.enumerated().flatMap { index, hue in
                    [
                        ".h\(index){stroke:\(hue)}", ".f\(index){fill:\(hue)}",
                        ".d\(index){fill:\(hue);stroke:\(page)}",
                    ]
                }
        }
    }

    private static let light = Theme(
        page: "#ffffff", border: "#d8dee4", ink: "#1f2328", muted: "#59636e", grid: "#e7ebef",
        axis: "#8c959f",
        bar: "#b3bdc9",
        hues: [
            "#1f62d0", "#bc5a00", "#1a7f45", "#8341bd", "#c2313f", "#0b7d88", "#80582b", "#59636e",
        ])

    private static let dark = Theme(
        page: "#0d1117", border: "#30363d", ink: "#e6edf3", muted: "#9da7b1", grid: "#21272e",
        axis: "#6e7681",
        bar: "#4a5462",
        hues: [
            "#5b9dff", "#f0994a", "#53c584", "#bd93f0", "#f47f7c", "#4cc3cd", "#cda673", "#9da7b1",
        ])

    static let text: String = {
        let shared = [
            "text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Roboto,Helvetica,Arial,sans-serif;"
                + "font-variant-numeric:tabular-nums}",
            ".title{font-size:17px;font-weight:600}",
            ".subtitle,.label,.value,.empty{font-size:13px}",
            ".value{font-weight:600}",
            ".detail{font-size:12px;font-weight:400}",
            ".section{font-size:12px;font-weight:600}",
            ".tick,.axis-title,.note{font-size:11.5px}",
            ".series{font-size:12.5px;font-weight:600}",
            ".page,.grid,.axis,.leader{stroke-width:1}",
            ".leader{opacity:.5}",
            ".curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}",
            ".curve.main{stroke-width:3}",
            ".curve.again{stroke-dasharray:5 4}",
        ]
        let dark = Self.dark.rules.joined(separator: "\n")
        return "\n" + (shared + light.rules).joined(separator: "\n")
            + "\n@media (prefers-color-scheme:dark){\n\(dark)\n}\n"
    }()
}
