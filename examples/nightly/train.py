import configparser
import os
import sys

from model import Network

from jpo.runlog import RunLog

config = configparser.ConfigParser()
config.read(sys.argv[1])
os.environ.setdefault("OMP_NUM_THREADS", "4")
values = {**config["training"], **config["resources"]}

with RunLog(**config["workload"], parameters=values, settings=os.environ) as log:
    network = Network(gpus=int(values["gpus"]))
    for epoch in range(1, int(values["epochs"]) + 1):
        train_loss, images = network.train(int(values["batch_size"]), float(values["learning_rate"]))
        log.batch(images)
        log.epoch(epoch, train_loss=train_loss, val_loss=network.validate())
