package io.lendstream.forecaster;

import java.io.Serializable;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Hands what a job writes to the test that runs in the same JVM. */
final class CollectingSink<T> implements Sink<T> {
    private static final long serialVersionUID = 1L;

    private final Taker<T> taker;

    /** Takes a value; it finds its way by static fields, since it is sent to the task. */
    interface Taker<T> extends Serializable {
        void take(T value);
    }

    CollectingSink(Taker<T> taker) {
        this.taker = taker;
    }

    @Override
    public SinkWriter<T> createWriter(WriterInitContext context) {
        return new SinkWriter<>() {
            @Override
            public void write(T value, Context where) {
                taker.take(value);
            }

            @Override
            public void flush(boolean endOfInput) {}

            @Override
            public void close() {}
        };
    }
}
