package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.List;

/** Counts the failed binds where units that work together were not all bound by their deadline. */
record MissedBinds(StepBuilder builder, UserRules rules) {
    /**
     * Counts a failed bind of each unit that is not reported as bound, and returns these. A unit that was not bound
     * twice in a row is quarantined.
     *
     * @param tenant what did not start there, such as {@code a replica of chat}
     */
    List<GpuId> count(List<GpuState> units, String tenant) {
        List<GpuId> missing = new ArrayList<>();
        for (GpuState unit : units) {
            if (unit.isHere()) {
                continue;
            }
            missing.add(unit.gpuId());
            int failures = unit.failedBinds() + 1;
            builder.put(unit.withFailedBinds(failures));
            if (failures >= 2) {
                builder.own(unit.gpuId(), rules.quarantine("%s did not start on it, twice in a row".formatted(tenant)));
            }
        }
        return missing;
    }
}
