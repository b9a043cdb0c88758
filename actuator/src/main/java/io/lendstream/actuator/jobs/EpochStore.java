package io.lendstream.actuator.jobs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Where the ranks of one membership epoch find each other: keys and values, and waits for keys that are to come. */
final class EpochStore {
    private static final byte[] YES = {'1'};
    private static final byte[] NO = {'0'};

    private final Map<String, byte[]> values = new HashMap<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private boolean ended;

    /** Takes the answer to a request, which may come at once or when somebody has set the key. */
    interface Answer {
        void value(byte[] value);

        void error(String why, boolean late);
    }

    private record Waiting(List<String> keys, boolean wantsValue, Answer answer, long untilNanos) {}

    /** @param nowNanos from {@link System#nanoTime} */
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

    /** Gives up on waits whose time is over. */
    void expire(long nowNanos) {
        for (Waiting each : List.copyOf(waiting)) {
            if (each.untilNanos - nowNanos <= 0) {
                waiting.remove(each);
                each.answer.error("%s was not set in time".formatted(each.keys), true);
            }
        }
    }

    /** Nobody is to wait any longer, or to begin to. */
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
