package io.lendstream.launcher.operation;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.text.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The commands that are in force now, by domain. Takes them in the order of their topic. */
final class StandingCommands {
    private final SortedMap<DomainId, SortedMap<Kind, ControlCommand>> inForce = new TreeMap<>();

    /** Takes a command. If the same one is in force already, the first of them counts: it has changed the domain. */
    void take(ControlCommand command) {
        SortedMap<Kind, ControlCommand> domain = inForce.computeIfAbsent(command.domain(), added -> new TreeMap<>());
        switch (command.kind()) {
            case FREEZE, RECLAIM_ALL, ADVISORY_ON -> domain.putIfAbsent(command.kind(), command);
            case THAW -> {
                domain.remove(Kind.FREEZE);
                domain.remove(Kind.RECLAIM_ALL);
            }
            case ADVISORY_OFF -> domain.remove(Kind.ADVISORY_ON);
            case APPROVE, RESET, UNKNOWN -> {}
        }
    }

    private boolean has(DomainId domain, Kind kind) {
        SortedMap<Kind, ControlCommand> known = inForce.get(domain);
        return known != null && known.containsKey(kind);
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
        return has(domain, Kind.RECLAIM_ALL) ? "stopped" : has(domain, Kind.FREEZE) ? "frozen" : "on";
    }

    /** What is in force in each domain, by which user, since when, until which command, and why. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        inForce.forEach((domain, commands) ->
                commands.values().forEach(command -> lines.add("domain %s: %s".formatted(domain, line(command)))));
        return lines;
    }

    /** The reason comes last, because a terminal may cut it. */
    private static String line(ControlCommand command) {
        return "%s by %s since %s until 'lendstream %s'; %s"
                .formatted(
                        effect(command.kind()),
                        command.issuer(),
                        Times.at(command.at()),
                        command.kind() == Kind.ADVISORY_ON ? "advisory off" : "thaw",
                        command.reason().isEmpty() ? "no reason given" : "reason: " + command.reason());
    }

    private static String effect(Kind kind) {
        return switch (kind) {
            case FREEZE -> "frozen";
            case RECLAIM_ALL -> "lending stopped";
            case ADVISORY_ON -> "decisions made advice";
            case THAW, ADVISORY_OFF, APPROVE, RESET, UNKNOWN -> EventText.lower(kind);
        };
    }

    /** The finding of {@code doctor}. */
    Finding finding() {
        List<String> lines = lines();
        return lines.isEmpty()
                ? Finding.ok("commands", "no freeze, reclaim-all or advisory mode is in force")
                : Finding.warn("commands", String.join("; ", lines), "end it when the reason has passed");
    }
}
