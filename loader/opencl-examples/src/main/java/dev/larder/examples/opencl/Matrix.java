package dev.larder.examples.opencl;

import org.jocl.cl_mem;

/**
 * A matrix of floats in device memory that it does not own.
 *
 * @param rowStep distance between the starts of two rows, in elements
 * @param columnStep distance between two neighbours in a row, in elements
 */
record Matrix(cl_mem memory, int rows, int columns, int rowStep, int columnStep) {
    /** Returns a matrix with contiguous rows. */
    static Matrix of(cl_mem memory, int rows, int columns) {
        return new Matrix(memory, rows, columns, columns, 1);
    }

    Matrix transposed() {
        return new Matrix(memory, columns, rows, columnStep, rowStep);
    }

    Matrix firstRows(int count) {
        return new Matrix(memory, count, columns, rowStep, columnStep);
    }

    int size() {
        return Math.multiplyExact(rows, columns);
    }
}
