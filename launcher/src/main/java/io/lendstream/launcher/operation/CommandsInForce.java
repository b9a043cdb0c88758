package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The commands in force at the time of a decision, from its domain's log. */
final class CommandsInForce {
    private final long upTo;
    private Optional<DomainEvent> freeze = Optional.empty();
    private Optional<DomainEvent> reclaimAll = Optional.empty();
    private Optional<DomainEvent> advisory = Optional.empty();

    /** @param decision the decision; later events than its inputs are ignored */
    CommandsInForce(Decision decision) {
        upTo = decision.reason().inputs().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
    }

    void take(DomainEvent event) {
        Optional<ControlCommand> command = event.event().asCommand();
        if (event.sequence() > upTo || command.isEmpty()) {
            return;
        }
        switch (command.get().kind()) {
            case FREEZE -> freeze = Optional.of(event);
            case RECLAIM_ALL -> reclaimAll = Optional.of(event);
            case THAW -> {
                freeze = Optional.empty();
                reclaimAll = Optional.empty();
            }
            case ADVISORY_ON -> advisory = Optional.of(event);
            case ADVISORY_OFF -> advisory = Optional.empty();
            default -> {
                // Approvals and resets have their effect at once, and are among a decision's inputs.
            }
        }
    }

    /** The commands in the order of the log. */
    List<DomainEvent> inForce() {
        List<DomainEvent> all = new ArrayList<>();
        freeze.ifPresent(all::add);
        reclaimAll.ifPresent(all::add);
        advisory.ifPresent(all::add);
        all.sort(Comparator.comparingLong(DomainEvent::sequence));
        return all;
    }
}
