package io.lendstream.actuator;

import io.lendstream.service.fake.FakeBroker;
import io.lendstream.service.fake.FakeSerdes;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.UnreachableException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Clients of a {@link FakeBroker}. */
final class FakeClients implements Clients {
    private final FakeBroker broker;
    private final List<String> transactionalIds = new CopyOnWriteArrayList<>();
    private volatile Runnable beforeReports = () -> {};

    FakeClients(FakeBroker broker) {
        this.broker = broker;
    }

    /** Under which names writers were opened. */
    List<String> transactionalIds() {
        return transactionalIds;
    }

    /** Sets what happens just before reports are read. */
    void beforeReports(Runnable next) {
        beforeReports = next;
    }

    @Override
    public String where() {
        return "fake:9092";
    }

    @Override
    public void check() {
        if (broker.isAway()) {
            throw UnreachableException.silent("no broker answered at fake:9092", null);
        }
    }

    @Override
    public RecordReader reader() {
        return broker.reader(broker.writer("actuator"));
    }

    @Override
    public RecordReader reportReader() {
        beforeReports.run();
        return reader();
    }

    @Override
    public RecordWriter writer(Optional<String> transactionalId) {
        check();
        var producer = broker.producer();
        transactionalId.ifPresent(id -> {
            transactionalIds.add(id);
            producer.initTransactions();
        });
        return new RecordWriter(producer, FakeSerdes.serializer(), FakeBroker.TOPICS, "/lendstream/actuator/actuator");
    }
}
