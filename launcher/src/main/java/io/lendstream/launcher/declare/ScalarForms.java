package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Limits;
import io.lendstream.service.settings.Units;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/** The forms of texts, numbers, lengths of time and amounts of memory. */
final class ScalarForms {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    static final String TIME_PATTERN = "^\\s*(\\d+(\\.\\d+)?\\s*(ms|s|m|h|d)\\s*)+$|^P";
    private static final String MEMORY_PATTERN = "^\\s*\\d+(\\.\\d+)?\\s*(B|KiB?|MiB?|GiB?|TiB?)\\s*$";
    private static final String CPU_PATTERN = "^\\s*(\\d+m|\\d+(\\.\\d{1,3})?)\\s*$";
    private static final long MILLIS_PER_CORE = 1000;
    private static final double LARGEST_EXACT = 1e15;

    private ScalarForms() {}

    /** A name that records may have. */
    static ValueForm<String> name() {
        return new ScalarForm<>(
                "a name: 1 to %d printable ASCII characters without blanks, quotes and backslashes"
                        .formatted(Limits.LONGEST_NAME),
                text -> optional(text, ScalarForms::isName, Function.identity()),
                JSON::textNode,
                () -> typed("string")
                        .put("minLength", 1)
                        .put("maxLength", Limits.LONGEST_NAME)
                        .put("pattern", "^[!#-&(-\\[\\]-_a-~]+$"));
    }

    private static boolean isName(String text) {
        try {
            Limits.name("the name", text);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** A name as a value of its own type. */
    static <V> ValueForm<V> id(Function<String, V> type, Function<V, String> text) {
        ValueForm<String> name = name();
        return new ScalarForm<>(
                name.takes(),
                written -> optional(written, ScalarForms::isName, type),
                id -> JSON.textNode(text.apply(id)),
                name::schema);
    }

    /** A text that is not empty. */
    static ValueForm<String> text() {
        return new ScalarForm<>(
                "a text that is not empty",
                text -> optional(text, some -> !some.isEmpty() && some.length() <= Limits.LONGEST_TEXT, some -> some),
                JSON::textNode,
                () -> typed("string").put("minLength", 1).put("maxLength", Limits.LONGEST_TEXT));
    }

    /** A whole number. */
    static ValueForm<Integer> whole(Limits.Whole bounds) {
        long least = Math.max(Integer.MIN_VALUE, bounds.least());
        long most = Math.min(Integer.MAX_VALUE, bounds.most());
        return new ScalarForm<>(
                "a whole number from %d to %d".formatted(least, most),
                text -> whole(text).filter(bounds::includes).map(Long::intValue),
                JSON::numberNode,
                () -> typed("integer").put("minimum", least).put("maximum", most));
    }

    private static Optional<Long> whole(String text) {
        try {
            return Optional.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /**
     * A number.
     *
     * @param takes the allowed values, for people
     */
    static ValueForm<Double> number(String takes, Limits.Real bounds) {
        return new ScalarForm<>(
                takes,
                text -> decimal(text).map(BigDecimal::doubleValue).filter(bounds::includes),
                ScalarForms::plain,
                () -> typed("number").put("minimum", bounds.least()).put("maximum", bounds.most()));
    }

    private static JsonNode plain(double value) {
        boolean isWhole = value == Math.rint(value) && Math.abs(value) < LARGEST_EXACT;
        return isWhole ? JSON.numberNode((long) value) : JSON.numberNode(value);
    }

    private static Optional<BigDecimal> decimal(String text) {
        try {
            return Optional.of(new BigDecimal(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** True or false. */
    static ValueForm<Boolean> flag() {
        return new ScalarForm<>(
                "true or false",
                text -> text.equals("true") || text.equals("false")
                        ? Optional.of(text.equals("true"))
                        : Optional.empty(),
                JSON::booleanNode,
                () -> typed("boolean"));
    }

    /** A length of time such as {@code 30s}. */
    static ValueForm<Duration> length(Limits.Whole millis) {
        return new ScalarForm<>(
                "a length of time such as 250ms, 30s, 5m or 1h, at most %s"
                        .formatted(Units.text(Duration.ofMillis(millis.most()))),
                text -> Units.duration(text).filter(length -> millis.includes(Limits.millis(length))),
                length -> JSON.textNode(Units.text(length)),
                () -> typed("string").put("pattern", TIME_PATTERN));
    }

    /** A time such as {@code 2026-03-01T00:00:00Z}. */
    static ValueForm<Instant> time() {
        return new ScalarForm<>(
                "a time such as 2026-03-01T18:00:00Z",
                ScalarForms::time,
                time -> JSON.textNode(time.toString()),
                () -> typed("string").put("format", "date-time"));
    }

    private static Optional<Instant> time(String text) {
        try {
            return Optional.of(OffsetDateTime.parse(text).toInstant().truncatedTo(ChronoUnit.MILLIS))
                    .filter(time -> !time.isBefore(Limits.EARLIEST) && !time.isAfter(Limits.LATEST));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** An amount of memory such as {@code 40Gi}. */
    static ValueForm<Long> memory(Limits.Whole bytes) {
        return new ScalarForm<>(
                "an amount of memory such as 512Mi or 40Gi",
                text -> Units.bytes(text).filter(bytes::includes),
                amount -> JSON.textNode(memory(amount)),
                () -> typed("string").put("pattern", MEMORY_PATTERN));
    }

    /** The amount in the largest unit of which it is a multiple. */
    private static String memory(long bytes) {
        String[] units = {"B", "Ki", "Mi", "Gi", "Ti"};
        int unit = 0;
        long amount = bytes;
        while (unit < units.length - 1 && amount > 0 && amount % 1024 == 0) {
            amount /= 1024;
            unit++;
        }
        return amount + units[unit];
    }

    /** CPU in thousandths of a core: {@code 8} or {@code 0.5} cores, or {@code 500m}. */
    static ValueForm<Long> cpu(Limits.Whole millis) {
        return new ScalarForm<>(
                "a number of cores such as 8 or 0.5, or of thousandths of a core such as 500m",
                text -> cpuMillis(text).filter(millis::includes),
                amount -> amount % MILLIS_PER_CORE == 0
                        ? JSON.numberNode(amount / MILLIS_PER_CORE)
                        : JSON.textNode(amount + "m"),
                () -> {
                    ObjectNode either = JSON.objectNode();
                    either.putArray("oneOf")
                            .add(typed("number").put("minimum", 0))
                            .add(typed("string").put("pattern", CPU_PATTERN));
                    return either;
                });
    }

    private static Optional<Long> cpuMillis(String text) {
        if (text.endsWith("m")) {
            return whole(text.substring(0, text.length() - 1));
        }
        try {
            return decimal(text).map(cores -> cores.movePointRight(3).longValueExact());
        } catch (ArithmeticException e) {
            return Optional.empty();
        }
    }

    /** One of some words. */
    static <E> ValueForm<E> choice(Map<String, E> words) {
        return new ScalarForm<>(
                String.join(" or ", words.keySet()),
                text -> Optional.ofNullable(words.get(text)),
                value -> JSON.textNode(word(words, value)),
                () -> {
                    ObjectNode schema = typed("string");
                    words.keySet().forEach(schema.withArray("enum")::add);
                    return schema;
                });
    }

    /** The word of a value in files. A value of a newer version has no word; its name is shown instead. */
    private static <E> String word(Map<String, E> words, E value) {
        return words.entrySet().stream()
                .filter(word -> word.getValue().equals(value))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(value::toString);
    }

    private static <V> Optional<V> optional(String text, Predicate<String> allowed, Function<String, V> type) {
        return allowed.test(text) ? Optional.of(type.apply(text)) : Optional.empty();
    }

    static ObjectNode typed(String type) {
        return JSON.objectNode().put("type", type);
    }
}
