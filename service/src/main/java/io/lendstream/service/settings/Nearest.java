package io.lendstream.service.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds the known names that a mistyped name was probably meant to be. */
public final class Nearest {
    private Nearest() {}

    /** A name that starts with this one, or the name with the fewest changes, if at most a third of the letters. */
    static Optional<String> to(String name, Collection<String> known) {
        Optional<String> longer = known.stream()
                .filter(other -> other.startsWith(name))
                .min(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
        return longer.isPresent() ? longer : fewestChanges(name, known);
    }

    /**
     * The known names nearest to a mistyped one, the best first: continuations, then names with few letters changed.
     */
    public static List<String> all(String name, Collection<String> known, int most) {
        Comparator<String> order = Comparator.<String>comparingInt(other -> distance(name, other))
                .thenComparing(Comparator.naturalOrder());
        Stream<String> longer =
                known.stream().filter(other -> other.startsWith(name)).sorted(order);
        Stream<String> alike = known.stream()
                .filter(other -> !other.startsWith(name) && isNear(name, other))
                .sorted(order);
        return Stream.concat(longer, alike).limit(most).toList();
    }

    /** Names in a sentence: {@code a, b or c}. */
    public static String listed(List<String> names) {
        int last = names.size() - 1;
        return last == 0 ? names.get(0) : String.join(", ", names.subList(0, last)) + " or " + names.get(last);
    }

    private static boolean isNear(String name, String other) {
        return distance(name, other) <= Math.max(2, name.length() / 3);
    }

    private static Optional<String> fewestChanges(String name, Collection<String> known) {
        return known.stream()
                .min(Comparator.<String>comparingInt(other -> distance(name, other))
                        .thenComparing(Comparator.naturalOrder()))
                .filter(other -> isNear(name, other));
    }

    /** Letters to insert, delete or replace. */
    private static int distance(String one, String other) {
        int[] above = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            above[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int[] row = new int[other.length() + 1];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int replaced = above[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(above[j], row[j - 1]));
            }
            above = row;
        }
        return above[other.length()];
    }
}
