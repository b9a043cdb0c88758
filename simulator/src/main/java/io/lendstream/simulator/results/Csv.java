package io.lendstream.simulator.results;

/** Cells of CSV files whose text comes from names. */
final class Csv {
    /** What a spreadsheet takes for the start of a formula. */
    private static final String FORMULA_STARTS = "=+-@\t\r";

    private Csv() {}

    /**
     * A name as a cell. An ordinary name stays as it is. One that a spreadsheet would run as a formula gets a leading apostrophe,
     * as OWASP recommends; one with a comma, a quotation mark or a line feed is quoted as in RFC 4180.
     */
    static String name(String name) {
        String text = !name.isEmpty() && FORMULA_STARTS.indexOf(name.charAt(0)) >= 0 ? "'" + name : name;
        return text.chars().anyMatch(each -> each == ',' || each == '"' || each == '\n' || each == '\r')
                ? '"' + text.replace("\"", "\"\"") + '"'
                : text;
    }
}
