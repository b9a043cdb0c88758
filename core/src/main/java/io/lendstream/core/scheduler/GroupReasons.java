package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The reasons of changes of replicas of several units of one role. Their numbers count whole replicas. */
record GroupReasons(StepBuilder builder, Policy policy, ServiceState service, ReplicaRole role) {
    /** The reason for a change of the service's own replicas, such as {@code starts 1 replica}. */
    Reason of(ReplicaNeed need, String what, Map<String, Double> more) {
        String text = service.spec().service() + " " + shortage(need, ": ", "") + "; it " + what;
        return because(need, text, more);
    }

    /** The replicas that a service lacks, such as {@code is short of 1 replica: 2 needed for the current load}. */
    String shortage(ReplicaNeed need, String open, String close) {
        int serving = serving();
        int starting = starting();
        int leftOut = leftOut();
        int missing = Math.max(0, need.replicas() - serving - starting);
        return Wording.lacking(missing, starting, role.replica()) + open
                + need.explained() + ", " + serving + " running"
                + (starting == 0 ? "" : ", " + starting + " starting")
                + (leftOut == 0 ? "" : ", " + leftOut + " in shapes that it does not declare") + close;
    }

    /** The shapes of some sets of units, such as {@code 2 x tp4 (4 GPUs)}. */
    static String shapes(List<UnitSet> sets) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        sets.forEach(set -> counts.merge(set.shape().inWords(), 1, Integer::sum));
        List<String> parts = new ArrayList<>();
        counts.forEach((shape, count) -> parts.add(count + " x " + shape));
        return String.join(", ", parts);
    }

    /** A reason that rests on the demand of a service. */
    Reason because(ReplicaNeed need, String text, Map<String, Double> more) {
        ReasonCode code = need.isAhead() ? ReasonCode.FORECAST : ReasonCode.DEMAND;
        int serving = serving();
        int starting = starting();
        Map<String, Double> numbers = new TreeMap<>(more);
        numbers.put("short", (double) Math.max(0, need.replicas() - serving - starting));
        numbers.put("running", (double) serving);
        numbers.put("starting", (double) starting);
        numbers.put("needed", (double) need.replicas());
        numbers.put("neededNow", (double) need.now());
        numbers.put("neededAhead", (double) need.ahead());
        numbers.put("floor", (double) need.floor());
        numbers.put("requestsPerSecond", service.arrivalsPerSecond());
        ReplicaReasons.startUps(service, numbers);
        List<Long> inputs = new ArrayList<>(service.rateEvents());
        if (policy.info().looksAhead()) {
            inputs.add(service.forecastEvent());
        }
        return builder.because(code, text, numbers, inputs);
    }

    private int serving() {
        int serving = 0;
        for (ReplicaGroup group :
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            serving += counts(group) && group.isServing() ? 1 : 0;
        }
        return serving;
    }

    private int starting() {
        int starting = 0;
        for (ReplicaGroup group :
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            starting += counts(group) && group.isActive() && !group.isServing() ? 1 : 0;
        }
        return starting;
    }

    private int leftOut() {
        int leftOut = LeftOutReplicas.singles(builder, service.spec().service()).size();
        for (ReplicaGroup group :
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            leftOut += group.isActive() && !isDeclared(group) ? 1 : 0;
        }
        return leftOut;
    }

    private boolean counts(ReplicaGroup group) {
        return group.part().role() == role && isDeclared(group);
    }

    private boolean isDeclared(ReplicaGroup group) {
        return service.spec().hardware().declares(group.part(), group.kind());
    }
}
