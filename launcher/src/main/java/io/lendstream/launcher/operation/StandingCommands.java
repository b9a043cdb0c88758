package io.lendstream.launcher.operation;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The commands that are in force now, by domain, from the events of accepted commands in any order. */
final class StandingCommands {
    private final SortedMap<DomainId, SortedMap<Long, GivenOrder>> orders = new TreeMap<>();

    /** A command with the operator behind it. */
    private record GivenOrder(ControlCommand command, Orderer orderer) {}

    /**
     * Takes the event of a command; twice is as good as once.
     *
     * @param topics names of the topics, which identify groups of operators
     */
    void take(DomainEvent event, TopicCatalogue topics) {
        event.event().asCommand().ifPresent(command -> {
            GivenOrder order = new GivenOrder(command, Orderer.of(command, event.origin(), topics));
            orders.computeIfAbsent(event.domain(), added -> new TreeMap<>()).put(event.sequence(), order);
        });
    }

    /** What is in force in a domain. Of several equal commands the first counts: it has changed the domain. */
    private SortedMap<Kind, GivenOrder> inForce(DomainId domain) {
        SortedMap<Kind, GivenOrder> inForce = new TreeMap<>();
        for (GivenOrder order : orders.getOrDefault(domain, new TreeMap<>()).values()) {
            Kind kind = order.command().kind();
            switch (kind) {
                case FREEZE, RECLAIM_ALL, ADVISORY_ON -> inForce.putIfAbsent(kind, order);
                case THAW -> {
                    inForce.remove(Kind.FREEZE);
                    inForce.remove(Kind.RECLAIM_ALL);
                }
                case ADVISORY_OFF -> inForce.remove(Kind.ADVISORY_ON);
                case APPROVE, RESET, ADOPT, TRUST, UNKNOWN -> {}
            }
        }
        return inForce;
    }

    /**
     * Whether a domain lends: {@code on}, {@code off} by its scheduler's setting, or {@code stopped} or {@code frozen}
     * by a command.
     *
     * @param setting {@code scheduler.lending}
     */
    String lending(DomainId domain, boolean setting) {
        if (!setting) {
            return "off";
        }
        SortedMap<Kind, GivenOrder> inForce = inForce(domain);
        return inForce.containsKey(Kind.RECLAIM_ALL) ? "stopped" : inForce.containsKey(Kind.FREEZE) ? "frozen" : "on";
    }

    /** Whether the decisions of a domain are only advice. */
    boolean isAdvisory(DomainId domain) {
        return inForce(domain).containsKey(Kind.ADVISORY_ON);
    }

    /** What is in force in each domain, by which user, since when, until which command, and why. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        orders.keySet()
                .forEach(domain -> inForce(domain)
                        .values()
                        .forEach(order -> lines.add("domain %s: %s".formatted(domain, line(order)))));
        return lines;
    }

    /** The reason comes last, because a terminal may cut it. */
    private static String line(GivenOrder order) {
        ControlCommand command = order.command();
        return "%s by %s since %s until 'lendstream %s'; %s"
                .formatted(
                        effect(command.kind()),
                        order.orderer().name(),
                        Times.at(command.at()),
                        command.kind() == Kind.ADVISORY_ON ? "advisory off" : "thaw",
                        command.reason().isEmpty() ? "no reason given" : "reason: " + command.reason());
    }

    private static String effect(Kind kind) {
        return switch (kind) {
            case FREEZE -> "frozen";
            case RECLAIM_ALL -> "lending stopped";
            case ADVISORY_ON -> "decisions made advice";
            case THAW, ADVISORY_OFF, APPROVE, RESET, ADOPT, TRUST, UNKNOWN -> EventText.lower(kind);
        };
    }

    /** The finding of {@code doctor}. */
    Finding finding() {
        List<String> lines = lines();
        boolean hasReason = orders.keySet().stream()
                .flatMap(domain -> inForce(domain).values().stream())
                .anyMatch(order -> !order.command().reason().isEmpty());
        return lines.isEmpty()
                ? Finding.ok("commands", "no freeze, reclaim-all or advisory mode is in force")
                : Finding.warn(
                        "commands", String.join("; ", lines), hasReason ? "end it when the reason has passed" : "");
    }
}
