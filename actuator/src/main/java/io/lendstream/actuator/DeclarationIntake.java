package io.lendstream.actuator;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import java.util.Optional;
import java.util.concurrent.Executor;

/** Passes declarations of nodes, services and jobs to the inventory and to the actuation. */
final class DeclarationIntake {
    private final ActuatorSettings settings;
    private final DecisionProcessor processor;
    private final Inventory inventory;
    private final SelfDescription description;
    private final FoundTenants found;
    private final Declarations<NodeId> nodes = new Declarations<>();
    private final Declarations<ServiceId> services = new Declarations<>();
    private final Declarations<JobId> jobs = new Declarations<>();

    DeclarationIntake(ActuatorSettings settings, DecisionProcessor processor, KnownDeclarations known) {
        this.settings = settings;
        this.processor = processor;
        this.inventory = known.inventory();
        this.description = known.description();
        this.found = known.found();
    }

    /** Restores the declarations of an earlier run. */
    void restore(ActuatorState.Known known) {
        inventory.restore(known);
        known.nodes().forEach(processor.actuation()::know);
        known.jobs().forEach(processor.actuation()::know);
        known.services().forEach(processor.actuation()::know);
    }

    /**
     * Registers its topics with a reader that has not started.
     *
     * @param to runs the methods that handle records
     */
    void on(RecordReader reader, Executor to) {
        reader.handing(TopicCatalogue.NODES, received -> to.execute(() -> takeNode(received)))
                .handing(TopicCatalogue.SERVICES, received -> to.execute(() -> takeService(received)))
                .handing(TopicCatalogue.TRAINING_JOBS, received -> to.execute(() -> takeJob(received)));
    }

    private void takeNode(Received<Node> received) {
        Optional<Node> node = received.value().filter(any -> settings.covers(any.domain()));
        NodeId id = received.value().map(Node::nodeId).orElseGet(() -> new NodeId(received.key()));
        nodes.note(received.origin().topic(), id, node.map(Node::domain)).ifPresent(domain -> {
            inventory.forget(domain, id);
            processor.actuation().forget(domain, id);
            found.forget(domain, id);
        });
        node.ifPresent(known -> {
            processor.actuation().know(known);
            description.know(known);
            found.know(known);
            inventory.know(known, gpu -> processor.actuation().isOf(known.domain(), gpu));
        });
    }

    private void takeService(Received<InferenceService> received) {
        Optional<InferenceService> service = received.value().filter(any -> settings.covers(any.domain()));
        ServiceId id = received.value().map(InferenceService::service).orElseGet(() -> new ServiceId(received.key()));
        services.note(received.origin().topic(), id, service.map(InferenceService::domain))
                .ifPresent(domain -> {
                    inventory.forget(domain, id);
                    processor.actuation().forget(domain, id);
                    found.forget(domain, id);
                });
        service.ifPresent(known -> {
            inventory.know(known);
            processor.actuation().know(known);
            description.know(known);
            found.know(known);
        });
    }

    private void takeJob(Received<TrainingJob> received) {
        Optional<TrainingJob> job = received.value().filter(any -> settings.covers(any.domain()));
        JobId id = received.value().map(TrainingJob::job).orElseGet(() -> new JobId(received.key()));
        jobs.note(received.origin().topic(), id, job.map(TrainingJob::domain)).ifPresent(domain -> {
            inventory.forget(domain, id);
            processor.actuation().forget(domain, id);
            found.forget(domain, id);
        });
        job.ifPresent(known -> {
            inventory.know(known);
            processor.actuation().know(known);
            found.know(known);
        });
    }
}
