package io.lendstream.launcher;

import io.lendstream.launcher.cli.UserError;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The seeds of {@code --seeds}: a number of them, a list, or ranges. */
final class SeedList {
    private static final int MOST = 1_000;
    private static final Pattern PART = Pattern.compile("(\\d{1,18})(?:-(\\d{1,18}))?");

    private SeedList() {}

    /** {@code 5} is 1 to 5; {@code 1,4,9} and {@code 3-12} are these seeds. */
    static List<Long> parse(String text) {
        String[] parts = text.split(",", -1);
        Set<Long> seeds = new LinkedHashSet<>();
        for (String part : parts) {
            Matcher found = PART.matcher(part.trim());
            if (!found.matches()) {
                throw UserError.badUsage(
                        "--seeds is '%s', but must be a number of seeds, a list or a range, as 5, 1,4,9 or 3-12."
                                .formatted(text));
            }
            long first = Long.parseLong(found.group(1));
            String end = found.group(2);
            boolean isCount = end == null && parts.length == 1;
            long from = isCount ? 1 : first;
            long to = end == null ? first : Long.parseLong(end);
            if (to < from || to - from >= MOST || seeds.size() + to - from >= MOST) {
                throw UserError.badUsage(
                        "--seeds is '%s', but must name 1 to %d seeds, ranges upwards.".formatted(text, MOST));
            }
            for (long seed = from; seed <= to; seed++) {
                seeds.add(seed);
            }
        }
        return new ArrayList<>(seeds);
    }
}
