package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Sends the answer to a worker's request to the rendezvous store.
 *
 * @param id number by which the worker identifies its request
 */
record StoreAnswer(WorkerServer.Connection connection, long id) implements EpochStore.Answer {
    @Override
    public void value(byte[] value) {
        connection.send(answer(), value);
    }

    @Override
    public void error(String why, boolean late) {
        connection.send(answer().put("error", why).put("late", late), new byte[0]);
    }

    private ObjectNode answer() {
        return Frames.JSON.createObjectNode().put("type", "answer").put("id", id);
    }
}
