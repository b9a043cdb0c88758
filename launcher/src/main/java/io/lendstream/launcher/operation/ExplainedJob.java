package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.List;

/** The GPUs of the job that a decision changes, for people and for tools. */
final class ExplainedJob {
    private ExplainedJob() {}

    /** The GPUs before and after, and the difference. */
    static List<String> lines(Explanation.JobGpus job) {
        List<String> lines = new ArrayList<>();
        lines.add("GPUs of job %s, before and after:".formatted(job.job()));
        lines.add("  before: " + counted(job.before()));
        lines.add("  after: " + counted(job.after()));
        if (!job.gained().isEmpty()) {
            lines.add("  gained: " + EventText.list(job.gained()));
        }
        if (!job.givenUp().isEmpty()) {
            lines.add("  given up: " + EventText.list(job.givenUp()));
        }
        return lines;
    }

    private static String counted(List<GpuId> gpus) {
        return gpus.isEmpty() ? "none" : "%d (%s)".formatted(gpus.size(), EventText.list(gpus));
    }

    static void put(ObjectNode json, Explanation.JobGpus job) {
        json.put("name", job.job().value());
        put(json.putArray("before"), job.before());
        put(json.putArray("after"), job.after());
        put(json.putArray("gained"), job.gained());
        put(json.putArray("givenUp"), job.givenUp());
    }

    private static void put(ArrayNode names, List<GpuId> gpus) {
        gpus.forEach(gpu -> names.add(gpu.value()));
    }
}
