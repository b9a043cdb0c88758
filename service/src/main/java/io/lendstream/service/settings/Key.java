package io.lendstream.service.settings;

import io.lendstream.core.event.Limits;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One setting: its name, allowed values, default and description.
 *
 * @param name lower-case words joined by {@code -}, in parts joined by {@code .}
 * @param takes the allowed values, for people: {@code a duration such as 45s}
 * @param otherwise the default as text; empty if the setting is optional
 * @param description one sentence for the reference page
 * @param parse reads a text; empty if the text is not an allowed value
 */
public record Key<T>(
        String name, String takes, String otherwise, String description, Function<String, Optional<T>> parse) {
    public Key {
        if (!name.matches("[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)*")) {
            throw new IllegalArgumentException("a setting's name must be words joined by '-' and '.', but was " + name);
        }
        if (description.isBlank() || !description.endsWith(".")) {
            throw new IllegalArgumentException(
                    "%s must have a sentence as description, but has '%s'".formatted(name, description));
        }
        if (parse.apply(otherwise).isEmpty()) {
            throw new IllegalArgumentException(
                    "the default of %s must be %s, but was '%s'".formatted(name, takes, otherwise));
        }
    }

    public static Key<String> text(String name, String otherwise, String description) {
        return new Key<>(name, "a text", otherwise, description, Optional::of);
    }

    /** A valid name by {@link Limits#name}: of a domain, a node or an actuator. */
    public static Key<String> name(String name, String otherwise, String description) {
        return new Key<>(
                name,
                "a name: 1 to %d printable ASCII characters without blanks, quotes and backslashes, and no part between slashes that is '.' or '..'"
                        .formatted(Limits.LONGEST_NAME),
                otherwise,
                description,
                Key::named);
    }

    /** Valid names separated by commas; none for an empty text. */
    public static Key<List<String>> names(String name, String otherwise, String description) {
        return new Key<>(
                name,
                "names separated by commas, each of 1 to %d printable ASCII characters without blanks, quotes and backslashes, and no part between slashes that is '.' or '..'"
                        .formatted(Limits.LONGEST_NAME),
                otherwise,
                description,
                text -> Optional.of(parts(text))
                        .filter(parts ->
                                parts.stream().allMatch(part -> named(part).isPresent())));
    }

    private static Optional<String> named(String text) {
        try {
            return Optional.of(Limits.name("the name", text.strip()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** A text that is not blank. */
    public static Key<String> word(String name, String otherwise, String description) {
        return new Key<>(
                name,
                "a text that is not blank",
                otherwise,
                description,
                text -> Optional.of(text.strip()).filter(word -> !word.isEmpty()));
    }

    /** Words separated by commas; none for an empty text. */
    public static Key<List<String>> words(String name, String otherwise, String description) {
        return new Key<>(name, "words separated by commas", otherwise, description, text -> Optional.of(parts(text)));
    }

    private static List<String> parts(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }

    public static Key<Boolean> flag(String name, boolean otherwise, String description) {
        return new Key<>(name, "true or false", String.valueOf(otherwise), description, text -> switch (text.strip()
                .toLowerCase(Locale.ROOT)) {
            case "true", "on", "yes" -> Optional.of(true);
            case "false", "off", "no" -> Optional.of(false);
            default -> Optional.empty();
        });
    }

    public static Key<Integer> count(String name, int least, int most, int otherwise, String description) {
        String takes = most == Integer.MAX_VALUE
                ? "a whole number of at least " + least
                : "a whole number from %d to %d".formatted(least, most);
        return new Key<>(
                name,
                takes,
                String.valueOf(otherwise),
                description,
                text -> whole(text)
                        .filter(number -> number >= least && number <= most)
                        .map(Long::intValue));
    }

    public static Key<Long> number(String name, long otherwise, String description) {
        return new Key<>(name, "a whole number", String.valueOf(otherwise), description, Key::whole);
    }

    public static Key<Double> fraction(String name, double otherwise, String description) {
        return decimal(name, 0, 1, otherwise, description);
    }

    public static Key<Double> decimal(String name, double least, double most, double otherwise, String description) {
        String takes = most == Double.MAX_VALUE
                ? "a number of at least " + plain(least)
                : "a number from %s to %s".formatted(plain(least), plain(most));
        return new Key<>(
                name,
                takes,
                plain(otherwise),
                description,
                text -> decimal(text).filter(number -> number >= least && number <= most));
    }

    /** A duration, zero included. */
    public static Key<Duration> duration(String name, String otherwise, String description) {
        return new Key<>(name, "a duration such as 250ms, 45s, 5m or 1h", otherwise, description, Units::duration);
    }

    /** A duration above zero. */
    public static Key<Duration> period(String name, String otherwise, String description) {
        return new Key<>(
                name,
                "a duration above 0s such as 250ms, 45s, 5m or 1h",
                otherwise,
                description,
                text -> Units.duration(text).filter(length -> !length.isZero()));
    }

    public static Key<Long> bytes(String name, String otherwise, String description) {
        return new Key<>(name, "an amount such as 512MiB or 8GiB", otherwise, description, Units::bytes);
    }

    public static Key<Path> path(String name, String otherwise, String description) {
        return new Key<>(name, "a path", otherwise, description, Key::path);
    }

    /** One of an enum's values, by its name in lower case with {@code -} for {@code _}. */
    public static <E extends Enum<E>> Key<E> choice(String name, E otherwise, String description) {
        List<E> all = List.of(otherwise.getDeclaringClass().getEnumConstants());
        return choice(name, all, otherwise, description);
    }

    /** One of some of an enum's values. */
    public static <E extends Enum<E>> Key<E> choice(String name, List<E> all, E otherwise, String description) {
        String takes = all.stream().map(Key::spelled).collect(Collectors.joining(" or "));
        return new Key<>(
                name,
                takes,
                spelled(otherwise),
                description,
                text -> all.stream()
                        .filter(value -> spelled(value).equals(text.strip()))
                        .findFirst());
    }

    /** The same setting without a default: its value may be empty. */
    @SuppressWarnings("OptionalMapToOptional") // an unset value differs from an unreadable one
    public Key<Optional<T>> optional() {
        return new Key<>(
                name,
                takes,
                "",
                description,
                text -> text.isBlank()
                        ? Optional.of(Optional.empty())
                        : parse.apply(text).map(Optional::of));
    }

    /** The environment variable that sets it. */
    public String variable() {
        return variable(name);
    }

    static String variable(String name) {
        return Settings.VARIABLE_PREFIX
                + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    T read(String text, String where) {
        return parse.apply(text)
                .orElseThrow(
                        () -> new SettingsException("%s is '%s' (%s), but must be %s. Change it, or leave it out%s."
                                .formatted(
                                        name,
                                        text.replaceAll("\\p{Cntrl}", "?"),
                                        where,
                                        takes,
                                        otherwise.isEmpty() ? "" : " for " + otherwise)));
    }

    private static <E extends Enum<E>> String spelled(E value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String plain(double number) {
        return number == Math.rint(number) ? String.valueOf((long) number) : String.valueOf(number);
    }

    private static Optional<Long> whole(String text) {
        try {
            return Optional.of(Long.parseLong(text.strip()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<Double> decimal(String text) {
        try {
            return Optional.of(Double.parseDouble(text.strip())).filter(Double::isFinite);
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<Path> path(String text) {
        try {
            return text.isBlank() ? Optional.empty() : Optional.of(Path.of(text.strip()));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }
}
