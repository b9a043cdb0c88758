package io.lendstream.actuator.jobs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A key-value store in which the ranks of one membership epoch find each other, with waits for missing keys. */
final class EpochStore {
    private static final byte[] YES = {'1'};
    private static final byte[] NO = {'0'};

    private final Map<String, byte[]> values = new HashMap<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private boolean ended;

    /** Handles a request; the answer may be immediate, or follow when another rank has set the key. */
    interface Answer {
        void value(byte[] value);

        void error(String why, boolean late);
    }

    private record Waiting(List<String> keys, boolean wantsValue, Answer answer, long untilNanos) {}

    /** @param nowNanos a time of {@link System#nanoTime} */
    void ask(String operation, List<String> keys, byte[] value, long timeoutMillis, long nowNanos, Answer answer) {
        if (ended) {
            answer.error("the membership epoch is over", false);
            return;
        }
        String first = keys.isEmpty() ? "" : keys.get(0);
        switch (operation) {
            case "set" -> {
                values.put(first, value);
                answer.value(new byte[0]);
                answerThoseWhoCanGoOn();
            }
            case "add" -> {
                long before = Long.parseLong(text(values.getOrDefault(first, NO)));
                byte[] after = bytes(Long.toString(before + Long.parseLong(text(value))));
                values.put(first, after);
                answer.value(after);
                answerThoseWhoCanGoOn();
            }
            case "get", "wait" -> {
                waiting.add(new Waiting(keys, operation.equals("get"), answer, nowNanos + timeoutMillis * 1_000_000));
                answerThoseWhoCanGoOn();
            }
            case "check" -> answer.value(values.keySet().containsAll(keys) ? YES : NO);
            case "delete" -> answer.value(values.remove(first) != null ? YES : NO);
            default -> answer.error("the store knows no operation '%s'".formatted(operation), false);
        }
    }

    /** Fails waits that have timed out. */
    void expire(long nowNanos) {
        for (Waiting each : List.copyOf(waiting)) {
            if (each.untilNanos - nowNanos <= 0) {
                waiting.remove(each);
                each.answer.error("%s was not set in time".formatted(each.keys), true);
            }
        }
    }

    /** Ends all waits, and refuses new ones. */
    void end() {
        ended = true;
        values.clear();
        List<Waiting> last = List.copyOf(waiting);
        waiting.clear();
        last.forEach(each -> each.answer.error("the membership epoch is over", false));
    }

    private void answerThoseWhoCanGoOn() {
        for (Waiting each : List.copyOf(waiting)) {
            if (values.keySet().containsAll(each.keys)) {
                waiting.remove(each);
                each.answer.value(each.wantsValue ? values.getOrDefault(each.keys.get(0), NO) : new byte[0]);
            }
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
