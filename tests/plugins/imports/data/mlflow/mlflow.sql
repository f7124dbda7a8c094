CREATE TABLE "experiments" (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), 
	creation_time BIGINT, 
	last_update_time BIGINT, 
	workspace VARCHAR(63) DEFAULT 'default' NOT NULL, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT uq_experiments_workspace_name UNIQUE (workspace, name)
);
INSERT INTO "experiments" VALUES(0,'Default','/home/user/mlruns/0','active',1795371363837,1795371363837,'default');
INSERT INTO "experiments" VALUES(1,'digits-nightly','/home/user/mlruns/1','active',1795371363841,1795371363841,'default');
CREATE TABLE "latest_metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT, 
	step BIGINT NOT NULL, 
	is_nan BOOLEAN NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT latest_metric_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO "latest_metrics" VALUES('val_loss',0.25,1795371363906,4,0,'56c931dd797440539aa42a36eb0e1606');
INSERT INTO "latest_metrics" VALUES('train_loss',0.5,1795371363909,4,0,'56c931dd797440539aa42a36eb0e1606');
INSERT INTO "latest_metrics" VALUES('learning_rate',5.0e-06,1795371363912,4,0,'56c931dd797440539aa42a36eb0e1606');
INSERT INTO "latest_metrics" VALUES('system/gpu_0_utilization_percentage',80.0,1795371363914,4,0,'56c931dd797440539aa42a36eb0e1606');
INSERT INTO "latest_metrics" VALUES('val_loss',0.25,1795371363973,4,0,'16846ef09e4340da8af8013397a08162');
INSERT INTO "latest_metrics" VALUES('train_loss',0.5,1795371363976,4,0,'16846ef09e4340da8af8013397a08162');
INSERT INTO "latest_metrics" VALUES('learning_rate',5.0e-06,1795371363979,4,0,'16846ef09e4340da8af8013397a08162');
INSERT INTO "latest_metrics" VALUES('system/gpu_0_utilization_percentage',80.0,1795371363983,4,0,'16846ef09e4340da8af8013397a08162');
CREATE TABLE "metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	step BIGINT DEFAULT '0' NOT NULL, 
	is_nan BOOLEAN DEFAULT '0' NOT NULL, 
	CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO "metrics" VALUES('val_loss',1.0,1795371363866,'56c931dd797440539aa42a36eb0e1606',1,0);
INSERT INTO "metrics" VALUES('train_loss',2.0,1795371363870,'56c931dd797440539aa42a36eb0e1606',1,0);
INSERT INTO "metrics" VALUES('learning_rate',2.0e-05,1795371363873,'56c931dd797440539aa42a36eb0e1606',1,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',50.0,1795371363876,'56c931dd797440539aa42a36eb0e1606',1,0);
INSERT INTO "metrics" VALUES('val_loss',0.5,1795371363879,'56c931dd797440539aa42a36eb0e1606',2,0);
INSERT INTO "metrics" VALUES('train_loss',1.0,1795371363883,'56c931dd797440539aa42a36eb0e1606',2,0);
INSERT INTO "metrics" VALUES('learning_rate',1.0e-05,1795371363888,'56c931dd797440539aa42a36eb0e1606',2,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',60.0,1795371363891,'56c931dd797440539aa42a36eb0e1606',2,0);
INSERT INTO "metrics" VALUES('val_loss',3.33333333333333314829e-01,1795371363894,'56c931dd797440539aa42a36eb0e1606',3,0);
INSERT INTO "metrics" VALUES('train_loss',6.66666666666666629659e-01,1795371363897,'56c931dd797440539aa42a36eb0e1606',3,0);
INSERT INTO "metrics" VALUES('learning_rate',6.66666666666666749441e-06,1795371363900,'56c931dd797440539aa42a36eb0e1606',3,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',70.0,1795371363903,'56c931dd797440539aa42a36eb0e1606',3,0);
INSERT INTO "metrics" VALUES('val_loss',0.25,1795371363906,'56c931dd797440539aa42a36eb0e1606',4,0);
INSERT INTO "metrics" VALUES('train_loss',0.5,1795371363909,'56c931dd797440539aa42a36eb0e1606',4,0);
INSERT INTO "metrics" VALUES('learning_rate',5.0e-06,1795371363912,'56c931dd797440539aa42a36eb0e1606',4,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',80.0,1795371363914,'56c931dd797440539aa42a36eb0e1606',4,0);
INSERT INTO "metrics" VALUES('val_loss',1.0,1795371363936,'16846ef09e4340da8af8013397a08162',1,0);
INSERT INTO "metrics" VALUES('train_loss',2.0,1795371363939,'16846ef09e4340da8af8013397a08162',1,0);
INSERT INTO "metrics" VALUES('learning_rate',2.0e-05,1795371363942,'16846ef09e4340da8af8013397a08162',1,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',50.0,1795371363944,'16846ef09e4340da8af8013397a08162',1,0);
INSERT INTO "metrics" VALUES('val_loss',0.5,1795371363947,'16846ef09e4340da8af8013397a08162',2,0);
INSERT INTO "metrics" VALUES('train_loss',1.0,1795371363949,'16846ef09e4340da8af8013397a08162',2,0);
INSERT INTO "metrics" VALUES('learning_rate',1.0e-05,1795371363952,'16846ef09e4340da8af8013397a08162',2,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',60.0,1795371363955,'16846ef09e4340da8af8013397a08162',2,0);
INSERT INTO "metrics" VALUES('val_loss',3.33333333333333314829e-01,1795371363958,'16846ef09e4340da8af8013397a08162',3,0);
INSERT INTO "metrics" VALUES('train_loss',6.66666666666666629659e-01,1795371363963,'16846ef09e4340da8af8013397a08162',3,0);
INSERT INTO "metrics" VALUES('learning_rate',6.66666666666666749441e-06,1795371363967,'16846ef09e4340da8af8013397a08162',3,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',70.0,1795371363970,'16846ef09e4340da8af8013397a08162',3,0);
INSERT INTO "metrics" VALUES('val_loss',0.25,1795371363973,'16846ef09e4340da8af8013397a08162',4,0);
INSERT INTO "metrics" VALUES('train_loss',0.5,1795371363976,'16846ef09e4340da8af8013397a08162',4,0);
INSERT INTO "metrics" VALUES('learning_rate',5.0e-06,1795371363979,'16846ef09e4340da8af8013397a08162',4,0);
INSERT INTO "metrics" VALUES('system/gpu_0_utilization_percentage',80.0,1795371363983,'16846ef09e4340da8af8013397a08162',4,0);
CREATE TABLE "params" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000) NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO "params" VALUES('batch_size','32','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "params" VALUES('lr','2e-05','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "params" VALUES('epochs','4','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "params" VALUES('optimizer','adam','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "params" VALUES('seed','None','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "params" VALUES('batch_size','64','16846ef09e4340da8af8013397a08162');
INSERT INTO "params" VALUES('lr','2e-05','16846ef09e4340da8af8013397a08162');
INSERT INTO "params" VALUES('epochs','4','16846ef09e4340da8af8013397a08162');
INSERT INTO "params" VALUES('optimizer','adam','16846ef09e4340da8af8013397a08162');
INSERT INTO "params" VALUES('seed','None','16846ef09e4340da8af8013397a08162');
CREATE TABLE "runs" (
	run_uuid VARCHAR(32) NOT NULL, 
	name VARCHAR(250), 
	source_type VARCHAR(20), 
	source_name VARCHAR(500), 
	entry_point_name VARCHAR(50), 
	user_id VARCHAR(256), 
	status VARCHAR(9), 
	start_time BIGINT, 
	end_time BIGINT, 
	source_version VARCHAR(50), 
	lifecycle_stage VARCHAR(20), 
	artifact_uri VARCHAR(200), 
	experiment_id INTEGER, deleted_time BIGINT, 
	CONSTRAINT run_pk PRIMARY KEY (run_uuid), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	FOREIGN KEY(experiment_id) REFERENCES experiments (experiment_id), 
	CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED'))
);
INSERT INTO "runs" VALUES('56c931dd797440539aa42a36eb0e1606','night-32','UNKNOWN','','','root','FINISHED',1795371363848,1795371363922,'','active','/home/user/mlruns/1/56c931dd797440539aa42a36eb0e1606/artifacts',1,NULL);
INSERT INTO "runs" VALUES('16846ef09e4340da8af8013397a08162','night-64','UNKNOWN','','','root','FAILED',1795371363925,1795371363989,'','active','/home/user/mlruns/1/16846ef09e4340da8af8013397a08162/artifacts',1,NULL);
INSERT INTO "runs" VALUES('5b004c47e3e9493093fda5ecbbdc88f2','now','UNKNOWN','','','root','RUNNING',1795371363992,1795371363998,'','active','/home/user/mlruns/1/5b004c47e3e9493093fda5ecbbdc88f2/artifacts',1,NULL);
INSERT INTO "runs" VALUES('3962394a52eb4d7db75809abe0832c2c','gone','UNKNOWN','','','root','FINISHED',1795371364009,1795371364014,'','deleted','/home/user/mlruns/1/3962394a52eb4d7db75809abe0832c2c/artifacts',1,1795371364018);
CREATE TABLE "tags" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000), 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO "tags" VALUES('mlflow.user','root','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('mlflow.source.name','train.py','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','e6d128c0c5b8570ce642046a9edc13878c3a6d0a','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('mlflow.source.git.branch','import14','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('mlflow.runName','night-32','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('dataset','digits','56c931dd797440539aa42a36eb0e1606');
INSERT INTO "tags" VALUES('mlflow.user','root','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('mlflow.source.name','train.py','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','e6d128c0c5b8570ce642046a9edc13878c3a6d0a','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('mlflow.source.git.branch','import14','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('mlflow.runName','night-64','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('dataset','digits','16846ef09e4340da8af8013397a08162');
INSERT INTO "tags" VALUES('mlflow.user','root','5b004c47e3e9493093fda5ecbbdc88f2');
INSERT INTO "tags" VALUES('mlflow.source.name','train.py','5b004c47e3e9493093fda5ecbbdc88f2');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','5b004c47e3e9493093fda5ecbbdc88f2');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','e6d128c0c5b8570ce642046a9edc13878c3a6d0a','5b004c47e3e9493093fda5ecbbdc88f2');
INSERT INTO "tags" VALUES('mlflow.source.git.branch','import14','5b004c47e3e9493093fda5ecbbdc88f2');
INSERT INTO "tags" VALUES('mlflow.runName','now','5b004c47e3e9493093fda5ecbbdc88f2');
INSERT INTO "tags" VALUES('mlflow.user','root','3962394a52eb4d7db75809abe0832c2c');
INSERT INTO "tags" VALUES('mlflow.source.name','train.py','3962394a52eb4d7db75809abe0832c2c');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','3962394a52eb4d7db75809abe0832c2c');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','e6d128c0c5b8570ce642046a9edc13878c3a6d0a','3962394a52eb4d7db75809abe0832c2c');
INSERT INTO "tags" VALUES('mlflow.source.git.branch','import14','3962394a52eb4d7db75809abe0832c2c');
INSERT INTO "tags" VALUES('mlflow.runName','gone','3962394a52eb4d7db75809abe0832c2c');
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE INDEX index_latest_metrics_run_uuid ON latest_metrics (run_uuid);
CREATE INDEX index_params_run_uuid ON params (run_uuid);
CREATE INDEX index_tags_run_uuid ON tags (run_uuid);
CREATE INDEX idx_experiments_workspace ON experiments (workspace);
CREATE INDEX idx_experiments_workspace_creation_time ON experiments (workspace, creation_time);
CREATE INDEX index_metrics_run_uuid_key_step ON metrics (run_uuid, "key", step);
