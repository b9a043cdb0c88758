package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The workers of a job whose processes run, by name and in the order of their start. */
final class WorkerPool {
    private final Map<String, Worker> workers = new LinkedHashMap<>();

    void add(Worker worker) {
        workers.put(worker.name(), worker);
    }

    void remove(Worker worker) {
        workers.remove(worker.name());
    }

    Optional<Worker> find(String name) {
        return Optional.ofNullable(workers.get(name));
    }

    boolean contains(Worker worker) {
        return workers.containsValue(worker);
    }

    boolean isEmpty() {
        return workers.isEmpty();
    }

    /** A copy, so that workers may be removed meanwhile. */
    List<Worker> all() {
        return List.copyOf(workers.values());
    }

    /** Whether processes of a worker are in a slot. */
    boolean isUsed(GpuId gpu) {
        return workers.values().stream().anyMatch(worker -> worker.isIn(gpu));
    }

    List<Slot> occupied() {
        return workers.values().stream()
                .flatMap(worker -> worker.slots().stream())
                .toList();
    }

    List<String> names() {
        return List.copyOf(workers.keySet());
    }

    List<JobFile.WorkerEntry> entries() {
        return workers.values().stream()
                .map(worker -> worker.identity().entry())
                .toList();
    }
}
