package io.lendstream.core.scheduler;

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Times of the week, in UTC, at which jobs are left alone. */
public record QuietWindows(List<Window> windows) {
    public static final QuietWindows NONE = new QuietWindows(List.of());

    private static final Pattern WINDOW =
            Pattern.compile("(?:([a-z]{3})(?:-([a-z]{3}))? )?(\\d\\d:\\d\\d)-(\\d\\d:\\d\\d)");
    private static final List<String> DAYS = List.of("mon", "tue", "wed", "thu", "fri", "sat", "sun");

    /**
     * One of them.
     *
     * @param text as it was written
     * @param days on which it begins
     * @param end on the next day where it is not after {@code start}; not part of it
     */
    public record Window(String text, Set<DayOfWeek> days, LocalTime start, LocalTime end) {
        public Window {
            days = Set.copyOf(days);
        }

        boolean holds(Instant at) {
            ZonedDateTime utc = at.atZone(ZoneOffset.UTC);
            LocalTime time = utc.toLocalTime();
            boolean today = days.contains(utc.getDayOfWeek());
            if (start.isBefore(end)) {
                return today && !time.isBefore(start) && time.isBefore(end);
            }
            boolean yesterday = days.contains(utc.getDayOfWeek().minus(1));
            return (today && !time.isBefore(start)) || (yesterday && time.isBefore(end));
        }
    }

    public QuietWindows {
        windows = List.copyOf(windows);
    }

    /**
     * Reads windows between commas: {@code 08:00-10:00} on every day, {@code mon-fri 17:30-18:30},
     * {@code sun 22:00-04:00} into Monday.
     *
     * @throws IllegalArgumentException if the text is no such window
     */
    public static QuietWindows parse(String text) {
        return new QuietWindows(java.util.Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(each -> !each.isEmpty())
                .map(QuietWindows::window)
                .toList());
    }

    private static Window window(String text) {
        Matcher matcher = WINDOW.matcher(text.toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw not(text);
        }
        try {
            int first = matcher.group(1) == null ? 0 : day(text, matcher.group(1));
            int last = matcher.group(1) == null
                    ? DAYS.size() - 1
                    : matcher.group(2) == null ? first : day(text, matcher.group(2));
            Set<DayOfWeek> days = EnumSet.noneOf(DayOfWeek.class);
            for (int i = first; ; i = (i + 1) % DAYS.size()) {
                days.add(DayOfWeek.of(i + 1));
                if (i == last) {
                    break;
                }
            }
            return new Window(text, days, LocalTime.parse(matcher.group(3)), LocalTime.parse(matcher.group(4)));
        } catch (DateTimeException e) {
            throw not(text);
        }
    }

    private static int day(String text, String name) {
        int day = DAYS.indexOf(name);
        if (day < 0) {
            throw not(text);
        }
        return day;
    }

    private static IllegalArgumentException not(String text) {
        return new IllegalArgumentException(
                "scheduler.quiet-windows has '%s', which is no time of the week in UTC; write 08:00-10:00 or mon-fri 17:30-18:30"
                        .formatted(text));
    }

    /** The window that holds at a time. */
    public Optional<Window> at(Instant time) {
        return windows.stream().filter(window -> window.holds(time)).findFirst();
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return windows.stream().map(Window::text).collect(Collectors.joining(","));
    }
}
