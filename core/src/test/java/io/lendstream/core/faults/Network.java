package io.lendstream.core.faults;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

/** What lies between schedulers and actuators. */
final class Network {
    private final Random random;
    private final FaultProfile weather;
    private final PriorityQueue<Message> inFlight =
            new PriorityQueue<>(Comparator.comparing(Message::at).thenComparingLong(Message::number));
    private final Map<String, Instant> latest = new HashMap<>();
    private boolean cleared;
    private long sent;

    private record Message(Instant at, long number, Runnable delivery) {}

    Network(Random random, FaultProfile weather) {
        this.random = random;
        this.weather = weather;
    }

    /** From now on everything arrives, once. */
    void clear() {
        cleared = true;
    }

    /** Sends a message along a way; whether it will arrive at all. */
    boolean send(String way, Instant now, Runnable delivery) {
        if (cleared) {
            put(way, now, delivery);
            return true;
        }
        boolean lost = random.nextDouble() < weather.loss();
        if (!lost) {
            put(way, now.plusMillis(weather.delayMillis(random)), delivery);
        }
        if (random.nextDouble() < weather.repeat()) {
            put(way, now.plusMillis(weather.delayMillis(random)), delivery);
            return true;
        }
        return !lost;
    }

    private void put(String way, Instant arrival, Runnable delivery) {
        Instant at = arrival;
        if (weather.inOrder()) {
            Instant last = latest.getOrDefault(way, Instant.MIN);
            at = last.isAfter(arrival) ? last : arrival;
            latest.put(way, at);
        }
        inFlight.add(new Message(at, sent++, delivery));
    }

    void deliver(Instant now) {
        while (!inFlight.isEmpty() && !inFlight.peek().at().isAfter(now)) {
            inFlight.remove().delivery().run();
        }
    }

    boolean isQuiet() {
        return inFlight.isEmpty();
    }
}
